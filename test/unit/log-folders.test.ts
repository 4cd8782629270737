import { readdir, stat } from 'node:fs/promises'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { diskIo, LogFiles } from '../../ingest/log/files.ts'
import { fileHeaderBytes } from '../../ingest/log/format.ts'
import { appendDurably, countingNumbers, makeLogFolder, openLog, smallFileBytes } from '../support/log-fixture.ts'

let folder: string
let remove: () => Promise<void>
beforeEach(async () => {
  ;({ folder, remove } = await makeLogFolder())
})
afterEach(() => remove())

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
