/** Rows leave the event log some hours after they were stored, also where few come: those of erased people must. */
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { diskIo, LogFiles } from '../../ingest/log/files.ts'
import { fileHeaderBytes } from '../../ingest/log/format.ts'
import { logFileAgeCheckMs, logFileAgeMaxMs } from '../../schemas/limits/log-limits.ts'
import {
  appendDurably,
  countingNumbers,
  makeFlakyIo,
  type OpenLog,
  openLog,
  readRows,
  setUpLogFolder,
  smallFileBytes,
} from '../support/log-fixture.ts'

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

const mark = 'https://example.com/of-an-erased-person'

async function filesWithMark(): Promise<string[]> {
  const names = await readdir(folder)
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'latin1')))
  return names.filter((_, at) => texts[at]!.includes(mark))
}

async function waitForFile(log: OpenLog, number: number): Promise<void> {
  await vi.waitFor(() => expect(log.writer.currentFile).toBe(number), { timeout: 60_000 })
}

test('a file with rows is left when it is old, for one where writing goes on', async () => {
  const log = await openLog(folder, countingNumbers())
  const first = await appendDurably(log, mark)
  await vi.waitFor(() => expect(log.sealed).toHaveLength(1), 60_000)
  vi.advanceTimersByTime(logFileAgeMaxMs - 2 * logFileAgeCheckMs)
  await log.abandon()
  expect([log.writer.currentFile, log.left]).toEqual([1, []])
  vi.advanceTimersByTime(3 * logFileAgeCheckMs)
  await waitForFile(log, 2)
  const second = await appendDurably(log, 'later')
  expect(log.left).toEqual([1])
  await log.writer.close()
  expect(log.sealed.map(({ file }) => file)).toEqual([1, 2])
  expect([...(await readRows(log, log.sealed))]).toEqual([
    [first, mark],
    [second, 'later'],
  ])
  const again = await openLog(folder, countingNumbers(10))
  expect(again.recovered.segments.map(({ file, rows }) => [file, rows])).toEqual([
    [1, 1],
    [2, 1],
  ])
  await again.writer.close()
})

test('an old file is left while a segment of it is open, which is sealed before', async () => {
  const log = await openLog(folder, countingNumbers())
  await log.abandon()
  // On a slow disk the segment has reached its age by then: another one.
  do {
    log.sealed.length = 0
    await appendDurably(log, mark)
  } while (log.sealed.length > 0)
  vi.advanceTimersByTime(logFileAgeMaxMs + logFileAgeCheckMs)
  await waitForFile(log, 2)
  expect([log.sealed.map(({ file, rows }) => [file, rows]), log.left]).toEqual([[[1, 1]], [1]])
  await log.writer.close()
})

test('an old file isn’t told of as left where the end comes before the next one', async () => {
  const io = makeFlakyIo()
  const log = await openLog(folder, countingNumbers(), io)
  await appendDurably(log, mark)
  await vi.waitFor(() => expect(log.sealed).toHaveLength(1), 60_000)
  await log.abandon()
  io.headerFailures = Number.POSITIVE_INFINITY
  vi.advanceTimersByTime(logFileAgeMaxMs + logFileAgeCheckMs)
  await waitForFile(log, 0)
  await log.writer.close()
  // The next start may not use its number again.
  expect(log.left).toEqual([])
})

test('a file that was never used isn’t left for another one', async () => {
  const log = await openLog(folder, countingNumbers())
  vi.advanceTimersByTime(2 * logFileAgeMaxMs)
  await log.abandon()
  await log.writer.close()
  expect([log.left, (await readdir(folder)).filter((name) => /^\d/.test(name))]).toEqual([[], ['00000001.log']])
})

/** A folder whose first file has the mark, and whose second one is written. */
async function openMarked(): Promise<LogFiles> {
  const { files } = await LogFiles.open(folder, smallFileBytes, diskIo)
  for (const text of [mark, 'x']) {
    const { number } = await files.openNext(fileHeaderBytes)
    const bytes = await readFile(files.pathOf(number))
    bytes.write(text, fileHeaderBytes, 'latin1')
    await writeFile(files.pathOf(number), bytes)
  }
  await files.settle()
  return files
}

test.each([
  ['some hours later', 1],
  ['where the clock went back by hours', -1],
])('a file is reused for some hours alone; it is removed when it is released %s', async (_, sign) => {
  const files = await openMarked()
  vi.setSystemTime(Date.now() + sign * (logFileAgeMaxMs + logFileAgeCheckMs))
  await files.release(1)
  expect(await filesWithMark()).toEqual([])
})

test('a spare file that was used is replaced after some hours, one that wasn’t stays', async () => {
  const files = await openMarked()
  await files.release(1)
  const [used] = await filesWithMark()
  const before = await readdir(folder)
  expect([used, before]).toEqual([expect.stringMatching(/^spare-/), expect.arrayContaining(['00000002.log'])])
  await files.renewSpares()
  expect(await readdir(folder)).toEqual(before)
  vi.setSystemTime(Date.now() + logFileAgeMaxMs + logFileAgeCheckMs)
  await files.renewSpares()
  expect((await readdir(folder)).sort()).toEqual(before.filter((name) => name !== used).sort())
})

test('a start removes spare files that are old', async () => {
  const files = await openMarked()
  await files.release(1)
  vi.setSystemTime(Date.now() + logFileAgeMaxMs + logFileAgeCheckMs)
  await LogFiles.open(folder, smallFileBytes, diskIo)
  expect((await readdir(folder)).filter((name) => /^spare/.test(name))).toEqual([])
})
