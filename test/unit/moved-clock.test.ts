/**
 * The clock of a node is set three days forward or back, and right again: nothing sticks, nothing is kept for longer.
 * Tracking keys and salts under such a clock are in key-table.test.ts and salts.test.ts.
 */
import type { ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { makeKeyRate } from '../../ingest/http/key-rate.ts'
import { makePasswordTries } from '../../ingest/http/password-tries.ts'
import { DedupWindow } from '../../ingest/log/dedup-window.ts'
import { ShipJournal } from '../../ingest/ship/journal.ts'
import { Shipper, type ShipperOptions } from '../../ingest/ship/shipper.ts'
import { expiryOf, keptDays } from '../../pipeline/retention/retention.ts'
import { fixedClock } from '../../runtime/clock.ts'
import { linkPasswordTriesMs, linkPasswordTriesOfNetworkMax } from '../../schemas/limits/ingest-limits.ts'
import { untilUp } from '../../start/stores/store.ts'
import { silent } from '../support/log-fixture.ts'
import { setUpFolder } from '../support/test-folder.ts'

const hour = 3_600_000
const day = 24 * hour
const now = Date.UTC(2026, 10, 20, 12)
const folder = setUpFolder()
afterEach(() => {
  vi.useRealTimers()
})

describe.each([
  ['forward', 3 * day],
  ['back', -3 * day],
] as const)('a clock that is set three days %s', (_, jump) => {
  test('frees a key that has used up its second, and limits it again', () => {
    const rate = makeKeyRate(10)
    for (const at of [now, now + jump, now]) {
      expect(rate.allows('a', 10, at)).toBe(true)
      expect(rate.allows('a', 1, at)).toBe(false)
      expect(rate.allows('b', 1, at)).toBe(true)
      expect(rate.allows('a', 10, at + 1000)).toBe(true)
    }
  })

  test('lets a network try passwords again that has had its tries, and limits it again', () => {
    const clock = fixedClock(now)
    const tries = makePasswordTries(clock)
    for (const at of [now, now + jump, now]) {
      clock.set(at)
      for (let count = 0; count < linkPasswordTriesOfNetworkMax; count++) expect(tries.take(1, 'a')).toBe(0)
      expect(tries.take(1, 'a')).toBe(linkPasswordTriesMs)
    }
  })

  test('neither ends a store that starts nor holds up a stop', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now })
    const child = { exitCode: null, signalCode: null } as ChildProcess
    const answers = ['none', 'none', 'up'] as const
    let asked = 0
    await untilUp(child, 60_000, async () => {
      vi.setSystemTime(now + jump)
      return answers[asked++]!
    })
    vi.setSystemTime(now)
    const journal = await ShipJournal.open(join(folder, 'journal'), 'boot', 600_000, silent)
    const files = { fileBytes: 1, pathOf: () => '', release: async () => {} }
    const recovered = { files: [], segments: [], unused: [] }
    const folders = [{ folder: 0, files, recovered, newestFile: 1 }]
    const shipper = new Shipper({ folders, journal, marks: undefined, log: silent } as unknown as ShipperOptions)
    shipper.add({ number: 1, folder: 0, file: 1, start: 0, end: 1, rows: 1, rowFormat: 1 })
    const stopped = shipper.close(100)
    vi.setSystemTime(now + jump)
    await stopped
    expect(shipper.backlog().segments).toBe(1)
  })

  test('leaves the dedup window what it was told last, and within its bound', () => {
    const window = new DedupWindow(1000, 24 * hour, now)
    const add = (key: number, at: number) => window.add({ hi: key, lo: key }, key, at)
    const find = (key: number) => window.find({ hi: key, lo: key })
    add(1, now)
    add(2, now + jump)
    expect([find(1), find(2)]).toEqual([1, 2])
    for (let key = 3; key < 5000; key++) add(key, now + jump + key)
    const held = Array.from({ length: 4999 }, (_, at) => at + 1).filter((key) => find(key) > 0).length
    expect(held).toBeGreaterThanOrEqual(500)
    expect(held).toBeLessThanOrEqual(1000)
    add(5000, now)
    expect([find(5000), find(4999)]).toEqual([5000, 4999])
  })

  test('moves what is deleted by as much as itself, and a grace ends when the clock is right', () => {
    const lapsed = { plan_key: 'starter', retention_days: null, plan_changed_at: new Date(now - 29 * day) } as const
    expect(expiryOf(30, now + jump) - expiryOf(30, now)).toBe(jump)
    // A UTC midnight that lies before everything readable, by less than a day.
    for (let at = now; at < now + 2 * day; at += hour) {
      const late = at - 30 * day - expiryOf(30, at)
      expect([expiryOf(30, at) % day, late >= 0 && late < day]).toEqual([0, true])
    }
    expect([now, now - 3 * day, now + 2 * day].map((at) => keptDays(lapsed, at))).toEqual([730, 730, 30])
    // A plan that changed in what is the future now: in its grace, not past it.
    expect(keptDays({ ...lapsed, plan_changed_at: new Date(now + 3 * day) }, now)).toBe(730)
  })
})
