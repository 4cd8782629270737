import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { openSegmentNumbers } from '../../ingest/log/segment-numbers.ts'
import { openSegmentLeases } from '../../ingest/segment-leases.ts'
import { segmentLeaseSize, segmentReserveSize } from '../../schemas/limits/log-limits.ts'
import { setUpLogFolder, silent } from '../support/log-fixture.ts'

let folder: string
let leased: number
setUpLogFolder((made) => {
  folder = made
  leased = 0
})

async function open(more: Partial<Parameters<typeof openSegmentLeases>[0]> = {}) {
  const { reserve, held, letGo, close } = await openSegmentLeases({
    file: join(folder, 'leases.json'),
    lease: async () => ++leased * segmentLeaseSize,
    isUsed: async () => false,
    log: silent,
    ...more,
  })
  const numbers = await openSegmentNumbers(reserve, silent)
  const closeAll = async () => {
    await numbers.close()
    await close()
  }
  // A reservation is written in the background: a disk under other tests takes as long as it takes.
  const takeReserved = () => vi.waitFor(() => numbers.take(), { timeout: 60_000, interval: 5 })
  return { take: numbers.take, takeReserved, reserved: numbers.close, held, letGo, close: closeAll }
}

describe('segment numbers', () => {
  it('are written before they are used', async () => {
    const numbers = await open()
    const first = numbers.take()
    const { leases } = JSON.parse(await readFile(join(folder, 'leases.json'), 'utf8'))
    expect(leases[0].next).toBeGreaterThan(first)
    expect(leases[0].next - first).toBeLessThanOrEqual(2 * segmentReserveSize)
    await numbers.close()
  })

  it('go on for the rest of the lease while Postgres is away', async () => {
    await (await open()).close()
    const numbers = await open({ lease: async () => Promise.reject(new Error('away')) })
    expect(numbers.take()).toBeGreaterThan(0)
    await numbers.close()
  })

  it('say what may still be taken of each lease, and keep a lease that is used up until it is let go of', async () => {
    const size = segmentLeaseSize
    await writeFile(join(folder, 'leases.json'), JSON.stringify({ leases: [{ next: 2 * size - 300, end: 2 * size }] }))
    leased = 6
    const numbers = await open()
    for (let taken = 0; taken < 600; taken++) {
      const number = await numbers.takeReserved()
      for (const { first, next, end } of numbers.held()) {
        expect([first % size, end - first]).toEqual([0, size])
        if (number >= first && number < end) expect(next).toBe(number + 1)
        else expect(next).toBe(number < first ? first : end)
      }
    }
    const held = numbers.held()
    expect(held.map(({ first }) => first)).toEqual([size, 7 * size])
    await numbers.letGo(7 * size)
    await numbers.close()
    const again = await open({ isUsed: async (first) => first < size })
    expect(again.held()[0]).toEqual({ first: size, next: 2 * size, end: 2 * size })
    await again.letGo(size)
    await again.close()
    const last = await open()
    expect(last.held().map(({ first }) => first)).toEqual([7 * size])
    await last.close()
  })

  it('drop a lease that ClickHouse has rows of: a restored disk', async () => {
    const before = await open()
    const old = before.take()
    await before.close()
    const numbers = await open({ isUsed: async (first) => first < 2 * segmentLeaseSize })
    expect(numbers.take()).toBeGreaterThanOrEqual(old + segmentLeaseSize)
    await numbers.close()
  })

  it('outlive a disk that can’t be written for a while, without wasting any', async () => {
    const numbers = await open()
    const before = numbers.take()
    await rm(folder, { recursive: true })
    let failed = 0
    for (let i = 0; i < 3_000; i++) {
      try {
        numbers.take()
      } catch {
        failed++
      }
      if (i % 500 === 0) await new Promise((resolve) => setTimeout(resolve, 20))
    }
    expect(failed).toBeGreaterThan(0)
    await mkdir(folder)
    await vi.waitFor(() => numbers.take(), { timeout: 60_000 })
    expect(numbers.take() - before).toBeLessThan(6 * segmentReserveSize)
    await numbers.close()
  })

  it('refuse to start on a lease file that can’t be read', async () => {
    await writeFile(join(folder, 'leases.json'), '{"leases":[')
    await expect(open()).rejects.toThrow("can't be read")
  })
})
