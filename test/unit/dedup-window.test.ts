import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DedupWindow } from '../../ingest/log/dedup-window.ts'

const hour = 3_600_000

describe('the local dedup window', () => {
  it('knows every id of the last half of its entries, whatever is added and removed', () => {
    const action = fc.record({ add: fc.boolean(), key: fc.integer({ min: 1, max: 60 }) })
    fc.assert(
      fc.property(fc.array(action, { maxLength: 200 }), (actions) => {
        const window = new DedupWindow(100, hour, 0)
        const known = new Map<number, number>()
        let added: number[] = []
        let nextId = 1
        for (const { add, key } of actions) {
          // Keys that collide in their lowest bits, so that probing is exercised.
          const hash = { hi: key, lo: key % 3 }
          if (!add) {
            const id = known.get(key)
            if (id !== undefined) window.remove(hash, id)
            known.delete(key)
            continue
          }
          if (window.find(hash) > 0) continue
          window.add(hash, nextId, 0)
          known.set(key, nextId++)
          added = [...added.filter((each) => each !== key), key].slice(-50)
          for (const recent of added) {
            if (known.has(recent)) expect(window.find({ hi: recent, lo: recent % 3 })).toBe(known.get(recent))
          }
        }
      }),
    )
  })

  it('forgets an id once two windows have passed', () => {
    const window = new DedupWindow(100, hour, 0)
    window.add({ hi: 1, lo: 1 }, 17, 0)
    window.add({ hi: 2, lo: 2 }, 18, hour + 1)
    expect(window.find({ hi: 1, lo: 1 })).toBe(17)
    window.add({ hi: 3, lo: 3 }, 19, 2 * hour + 2)
    expect(window.find({ hi: 1, lo: 1 })).toBe(0)
    expect(window.find({ hi: 2, lo: 2 })).toBe(18)
  })
})
