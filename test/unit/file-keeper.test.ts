/** Files of the log that are found at start are let go of once none of their rows may be loaded again. */
import { closeSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { diskIo, LogFiles } from '../../ingest/log/files.ts'
import { fileHeaderBytes } from '../../ingest/log/format.ts'
import type { Segment } from '../../ingest/log/segment.ts'
import { FileKeeper } from '../../ingest/ship/file-keeper.ts'
import { ShipJournal } from '../../ingest/ship/journal.ts'
import { retiredFileKeepMs } from '../../schemas/limits/log-limits.ts'
import { setUpLogFolder, silent, smallFileBytes } from '../support/log-fixture.ts'

let folder: string
setUpLogFolder((made) => {
  folder = made
})
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

const sweepMs = 5_000

/**
 * Files 1 to 4, of which the last is written.
 * @param left a file that the writer leaves
 * @returns the numbers of those that are there after each time
 */
async function keptAfter(
  rows: readonly Segment[],
  unused: number[],
  timesMs: readonly number[],
  left?: number,
): Promise<number[][]> {
  const { files } = await LogFiles.open(join(folder, 'log'), smallFileBytes, diskIo)
  for (let number = 1; number <= 4; number++) closeSync((await files.openNext(fileHeaderBytes)).fd)
  const journal = await ShipJournal.open(join(folder, 'journal'), 'boot', 600_000, silent)
  const found = { files: [1, 2, 3], segments: [...rows], unused }
  const options = { bytesMax: Number.POSITIVE_INFINITY, journal, log: silent }
  const keeper = new FileKeeper({ folder: 0, files, recovered: found, newestFile: 4 }, options)
  const done = { dropped: {}, rows: 1, hasSides: false, keys: [], segments: rows }
  if (rows.length > 0) keeper.manifestDone({ id: 2, part: 'all', ...done })
  if (left !== undefined) keeper.fileLeft(left)
  const kept: number[][] = []
  for (const ms of timesMs) {
    keeper.start()
    vi.advanceTimersByTime(ms)
    await keeper.close()
    const names = await readdir(files.folder)
    kept.push(names.flatMap((name) => (/^\d+\.log$/.test(name) ? Number.parseInt(name, 10) : [])).sort())
  }
  await files.settle()
  await journal.close()
  return kept
}

test.each([
  { unused: [1, 2, 3], kept: [[4], [4]] },
  { unused: [1, 3], kept: [[2, 3, 4], [4]] },
])('unused ones go at once, up to one that has something: $unused', async ({ unused, kept }) => {
  expect(await keptAfter([], unused, [sweepMs, retiredFileKeepMs])).toEqual(kept)
})

test('those with rows stay for as long as a power loss may take these from ClickHouse, and later ones behind them', async () => {
  const segment = { number: 1, folder: 0, file: 2, start: fileHeaderBytes, end: 8192, rows: 1, rowFormat: 1 }
  expect(await keptAfter([segment], [1, 3], [sweepMs, retiredFileKeepMs])).toEqual([[2, 3, 4], [4]])
})

test('a file that its writer has left goes as others do, also without rows', async () => {
  expect(await keptAfter([], [1, 2, 3], [sweepMs, retiredFileKeepMs], 4)).toEqual([[4], []])
})
