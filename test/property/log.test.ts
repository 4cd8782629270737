import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { fileHeaderBytes, groupAlignment } from '../../ingest/log/format.ts'
import { logFileAgeCheckMs, logFileAgeMaxMs } from '../../schemas/limits/log-limits.ts'
import {
  appendDurably,
  countingNumbers,
  makeFlakyIo,
  makeLogFolder,
  type OpenLog,
  openLog,
  readRows,
  setUpLogFolder,
} from '../support/log-fixture.ts'
import { isLong } from '../support/short-form.ts'

let folder: string
setUpLogFolder((made) => {
  folder = made
})
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance', 'Date'] })
})
afterEach(() => {
  vi.useRealTimers()
})

describe('the event log', () => {
  it('gives back every acknowledged row with its claim, and only those, after any run of appends, failures, old files and restarts', async () => {
    const step = fc.oneof(
      {
        weight: 8,
        arbitrary: fc.record({ kind: fc.constant('append' as const), rows: fc.integer({ min: 1, max: 30 }) }),
      },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('fail' as const), rows: fc.integer({ min: 1, max: 5 }) }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('age' as const), rows: fc.integer({ min: 1, max: 30 }) }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('restart' as const), rows: fc.constant(0) }) },
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), async (steps) => {
        const { folder, remove } = await makeLogFolder()
        const numbers = countingNumbers()
        const io = makeFlakyIo()
        const acknowledged = new Map<number, number>()
        let log = await openLog(folder, numbers, io)
        let count = 0
        for (const { kind, rows } of steps) {
          if (kind === 'restart') {
            // Nothing is closed: a kill. The files hold all there is.
            await log.abandon()
            vi.clearAllTimers()
            log = await openLog(folder, numbers, io)
            continue
          }
          if (kind === 'fail') io.syncFailures = 1
          // With a spare file at hand, a look leaves the old one at once.
          if (kind === 'age') await log.abandon()
          const file = log.writer.currentFile
          const sent = Array.from({ length: rows }, () => {
            // Long enough that files fill up and are changed.
            const nth = count++
            const claim = { hi: 4_000_000_000, lo: nth }
            return appendDurably(log, `https://example.com/${nth}/${'x'.repeat(3000)}`, claim).then(
              (id) => acknowledged.set(id, nth),
              () => {},
            )
          })
          if (kind === 'age') {
            // Before the rows are written, or while they are on their way.
            for (let turn = 0; turn < rows % 4; turn++) await setImmediate()
            vi.advanceTimersByTime(logFileAgeMaxMs)
            await waitForNextFile(log, file)
          }
          await Promise.all(sent)
          io.syncFailures = 0
        }
        await log.abandon()
        log = await openLog(folder, numbers, io)
        const found = await readRows(log, log.recovered.segments)
        expect(new Map([...found].map(([id, url]) => [id, Number(url.split('/')[3])]))).toEqual(acknowledged)
        const claimed = log.claims.filter(([{ hi }]) => hi === 4_000_000_000)
        expect(new Map(claimed.map(([{ lo }, id]) => [id, lo]))).toEqual(acknowledged)
        expect(log.setAside).toEqual([])
        await log.writer.close()
        await remove()
      }),
      { numRuns: isLong ? 300 : 50 },
    )
  })

  it('ends at the last whole group when the last one is cut at any byte', async () => {
    const log = await openLog(folder, countingNumbers())
    const first = await appendDurably(log, 'https://example.com/first')
    const whole = (await openedBytes(log.pathOf(1))).end
    await appendDurably(log, 'https://example.com/second')
    const { bytes, end } = await openedBytes(log.pathOf(1))
    await log.writer.close()
    const stepBytes = isLong ? 1 : 7
    for (let cut = whole; cut < end - groupAlignment; cut += stepBytes) {
      const damaged = Buffer.from(bytes)
      damaged.fill(0, cut)
      await writeFile(log.pathOf(1), damaged)
      const again = await openLog(folder, countingNumbers(100))
      expect([...(await readRows(again, again.recovered.segments)).keys()]).toEqual([first])
      expect(again.setAside).toEqual([])
      await again.writer.close()
    }
  })

  it('keeps two files of many starts that wrote nothing, and never reads the group that failed before them', async () => {
    const io = makeFlakyIo()
    let log = await openLog(folder, countingNumbers(), io)
    const kept = await appendDurably(log, 'https://example.com/kept')
    // Two files in a row: the failed group stands in the first one that is unused.
    await log.abandon()
    log = await openLog(folder, countingNumbers(10), io)
    io.syncFailures = 1
    await expect(appendDurably(log, 'https://example.com/failed')).rejects.toThrow('not durable')
    for (let start = 2; start < 10; start++) {
      await log.abandon()
      log = await openLog(folder, countingNumbers(10 * start), io)
      expect([...(await readRows(log, log.recovered.segments)).keys()]).toEqual([kept])
    }
    // The one with a row, two without, and the one that is written.
    const names = (await readdir(folder)).filter((name) => /^\d+\.log$/.test(name))
    expect(names).toHaveLength(4)
    expect((await stat(log.pathOf(2))).size).toBe(fileHeaderBytes)
    await log.writer.close()
  })

  it('sets a damaged group in the middle aside alone and reads on after it', async () => {
    const log = await openLog(folder, countingNumbers())
    const ends: number[] = []
    const ids: number[] = []
    for (const name of ['a', 'b', 'c']) {
      ids.push(await appendDurably(log, `https://example.com/${name}`))
      ends.push((await openedBytes(log.pathOf(1))).end)
    }
    const { bytes } = await openedBytes(log.pathOf(1))
    await log.writer.close()
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: ends[0]!, max: ends[1]! - groupAlignment }),
        fc.integer({ min: 0, max: 7 }),
        async (at, bit) => {
          const damaged = Buffer.from(bytes)
          damaged[at]! ^= 1 << bit
          await writeFile(log.pathOf(1), damaged)
          const again = await openLog(folder, countingNumbers(100))
          expect([...(await readRows(again, again.recovered.segments)).keys()]).toEqual([ids[0], ids[2]])
          expect(again.setAside).toHaveLength(1)
          await again.writer.close()
        },
      ),
      { numRuns: 50 },
    )
  })

  it('reads on when a file is missing or empty', async () => {
    let log = await openLog(folder, countingNumbers(1))
    await appendDurably(log, 'https://example.com/1')
    await log.writer.close()
    log = await openLog(folder, countingNumbers(10))
    await appendDurably(log, 'https://example.com/2')
    await log.writer.close()
    log = await openLog(folder, countingNumbers(20))
    const kept = await appendDurably(log, 'https://example.com/3')
    await log.writer.close()
    await writeFile(log.pathOf(1), '')
    await writeFile(log.pathOf(2), Buffer.alloc(10))
    log = await openLog(folder, countingNumbers(30))
    expect([...(await readRows(log, log.recovered.segments)).keys()]).toEqual([kept])
    expect(log.setAside).toEqual(['file-1', 'file-2'])
    await log.writer.close()
  })
})

/** Looks again and again, because rows may be under way. */
async function waitForNextFile(log: OpenLog, file: number): Promise<void> {
  const look = () => {
    vi.advanceTimersByTime(logFileAgeCheckMs)
    expect(log.writer.currentFile).toBeGreaterThan(file)
  }
  await vi.waitFor(look, { timeout: 60_000, interval: 5 })
}

/** A log file's bytes and where its groups end (groups are followed by zeros in a fresh file). */
async function openedBytes(path: string): Promise<{ bytes: Buffer; end: number }> {
  const bytes = await readFile(path)
  let end = bytes.length
  while (end > 0 && bytes[end - 1] === 0) end--
  return { bytes, end: Math.ceil(end / groupAlignment) * groupAlignment }
}
