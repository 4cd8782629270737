import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { diskIo, LogFiles } from '../../ingest/log/files.ts'
import { fileHeaderBytes, groupAlignment } from '../../ingest/log/format.ts'
import { beginSegment, GatheringGroup, GroupBuffer } from '../../ingest/log/group.ts'
import { sleep } from '../../runtime/retry.ts'
import { type BotVisitRow, botVisitColumns, streams } from '../../schemas/event/row.ts'
import { compileRowEncoder } from '../../schemas/event/row-codec.ts'
import {
  appendDurably,
  countingNumbers,
  makeFlakyIo,
  makeVisit,
  type OpenLog,
  openLog,
  readRows,
  setUpLogFolder,
  silent,
  smallFileBytes,
} from '../support/log-fixture.ts'
import { drawsOf } from '../support/short-form.ts'

let folder: string
setUpLogFolder((made) => {
  folder = made
})
const logs: OpenLog[] = []
afterEach(async () => {
  for (const log of logs.splice(0)) await log.writer.close()
})

async function open(...args: Parameters<typeof openLog>): Promise<OpenLog> {
  const log = await openLog(...args)
  logs.push(log)
  return log
}

describe('group commit', () => {
  it('gathers no more bytes than a file keeps room for, however short the rows are', () => {
    const segment = beginSegment({ numbers: countingNumbers(), log: silent })!
    const group = new GatheringGroup(segment, new GroupBuffer(), streams.bot_visits.rowBytesMax)
    const encode = compileRowEncoder<BotVisitRow>(botVisitColumns)
    for (let row = 0; row < 5_000; row++) group.add(encode, makeVisit('/'), null, null)
    const { bytes } = group
    expect(group.finish(1, 0) - bytes).toBeLessThan(groupAlignment)
  })

  it('tells of every number it takes, whether rows of it count or not, whatever fails', async () => {
    const io = makeFlakyIo()
    const numbers = countingNumbers()
    const log = await open(folder, numbers, io)
    const draw = drawsOf('log-writer')
    for (let round = 0; round < 40; round++) {
      const dice = draw()
      if (dice < 0.2) io.syncFailures = 1 + Math.floor(draw() * 2)
      else if (dice < 0.3) io.writeFailures = 1
      else if (dice < 0.35) io.headerFailures = 1
      const rows = Array.from({ length: 5 }, (_, i) => appendDurably(log, `${round}-${i}`).catch(() => {}))
      if (round % 8 === 0) await sleep(300)
      const more = appendDurably(log, `${round}-more`).catch(() => {})
      if (round % 3 === 0) await Promise.all([...rows, more])
      for (let waited = 0; !log.writer.hasRoom(1, 4096) && waited < 3_000; waited += 20) await sleep(20)
    }
    await log.writer.close()
    const told = [...log.sealed.map(({ number }) => number), ...log.unused].sort((a, b) => a - b)
    expect(told).toEqual(Array.from({ length: numbers.next - 1 }, (_, i) => i + 1))
  })

  it('hands over the segment of a group whose sync failed only once another file says where it ends', async () => {
    const io = makeFlakyIo()
    const log = await open(folder, countingNumbers(), io)
    let before: number
    // On a slow disk the segment has reached its age by then: another one.
    do {
      log.sealed.length = 0
      before = await appendDurably(log, 'before')
    } while (log.sealed.length > 0)
    io.syncFailures = 1
    io.headerFailures = 2
    const failed = expect(appendDurably(log, 'failed')).rejects.toThrow('not durable')
    await vi.waitFor(() => expect(log.writer.hasRoom(1, 4096)).toBe(false), 60_000)
    // Long past its age, and until then a kill may bring the group back.
    for (; !log.writer.hasRoom(1, 4096); await sleep(20)) expect(log.sealed).toEqual([])
    await failed
    await vi.waitFor(() => expect(log.sealed).toHaveLength(1), 60_000)
    expect([...(await readRows(log, log.sealed)).keys()]).toEqual([before])
  })

  it('refuses rows while no file can be had, and takes them again once there is room', async () => {
    const io = makeFlakyIo()
    const log = await open(folder, countingNumbers(), io)
    await appendDurably(log, 'before')
    // The write fails, and then every try to open another file.
    io.writeFailures = 5
    const failed = appendDurably(log, 'failed')
    await vi.waitFor(() => expect(log.writer.hasRoom(1, 4096)).toBe(false), 60_000)
    await expect(failed).rejects.toThrow('not durable')
    let waited = 0
    for (; !log.writer.hasRoom(1, 4096) && waited < 10_000; waited += 20) await sleep(20)
    await appendDurably(log, 'after')
    await log.writer.close()
    const again = await open(folder, countingNumbers(100))
    expect([...(await readRows(again, again.recovered.segments)).values()]).toEqual(['before', 'after'])
  })

  it('answers rows that wait for a file that can’t be had', async () => {
    const io = makeFlakyIo()
    const log = await open(folder, countingNumbers(), io, 256 * 1024)
    io.headerFailures = 3
    const answers: string[] = []
    for (let i = 0; i < 100; i++) {
      await appendDurably(log, `${i}-${'x'.repeat(2000)}`, { hi: 1, lo: i + 1 }).then(
        () => answers.push('durable'),
        () => answers.push('refused'),
      )
    }
    expect(answers).toContain('refused')
    await vi.waitFor(() => expect(log.writer.hasRoom(1, 4096)).toBe(true), { timeout: 60_000 })
    await appendDurably(log, 'after')
  })

  it('tells of a file whose only group failed: the next one’s header, which leaves that out, must not be released before it', async () => {
    const io = makeFlakyIo()
    const log = await open(folder, countingNumbers(), io)
    io.syncFailures = 1
    await expect(appendDurably(log, 'failed')).rejects.toThrow('not durable')
    expect([log.sealed, log.left]).toEqual([[], [1]])
  })

  it('ends while no file can be had after a full one', async () => {
    const url = 'x'.repeat(4000)
    const other = await open(join(folder, 'other'), countingNumbers())
    let rows = 0
    for (; other.writer.currentFile === 1; rows++) await appendDurably(other, url)
    const io = makeFlakyIo()
    const log = await openLog(join(folder, 'log'), countingNumbers(), io)
    for (let row = 1; row < rows; row++) await appendDurably(log, url)
    io.headerFailures = Number.POSITIVE_INFINITY
    const refused = expect(appendDurably(log, url)).rejects.toThrow('not durable')
    await log.writer.close()
    await refused
    // The next start may not use the number of a file again.
    expect(log.left).toEqual([])
  })

  it('goes over to another file without refusing a row', async () => {
    const log = await open(folder, countingNumbers())
    const urls = Array.from({ length: 600 }, (_, i) => `${i}-${'x'.repeat(4000)}`)
    const ids: number[] = []
    for (let at = 0; at < urls.length; at += 20) {
      ids.push(...(await Promise.all(urls.slice(at, at + 20).map((url) => appendDurably(log, url)))))
    }
    await log.writer.close()
    expect(log.left.length).toBeGreaterThan(0)
    expect(new Set(log.sealed.map(({ file }) => file))).toEqual(new Set([...log.left, log.left.length + 1]))
    const rows = await readRows(log, log.sealed)
    expect([...rows.keys()]).toEqual(ids)
    expect([...rows.values()]).toEqual(urls)
  })

  it('takes a batch whole or not at all', async () => {
    const log = await open(folder, countingNumbers())
    expect(log.writer.hasRoom(1, 4096)).toBe(true)
    log.writer.append(makeVisit('first'), null, null)
    expect(log.writer.hasRoom(1000, 100 * 1024 * 1024)).toBe(false)
    expect(log.writer.hasRoom(1_000_000, 1024)).toBe(false)
  })
})

it('a folder that nobody writes any more is emptied, and its next writer uses no file number again', async () => {
  for (const url of ['a', 'b']) {
    const log = await openLog(folder, countingNumbers())
    await appendDurably(log, url)
    await log.writer.close()
  }
  const { files, numbers } = await LogFiles.open(folder, smallFileBytes, diskIo, 0)
  expect(numbers).toEqual([1, 2])
  for (const number of numbers) await files.release(number)
  expect(await readdir(folder)).toEqual(['00000002.log'])
  expect((await stat(files.pathOf(2))).size).toBe(fileHeaderBytes)
  const again = await openLog(folder, countingNumbers(10))
  expect(again.recovered).toMatchObject({ files: [2], segments: [] })
  await appendDurably(again, 'c')
  expect(again.writer.currentFile).toBe(3)
  await again.writer.close()
})
