/**
 * The copy on disk of a table in memory, with a line an entry. New entries are appended. Once the appended ones are as
 * many as the table may hold, or after a failure, the whole file is written anew.
 */
import { appendFile, readFile } from 'node:fs/promises'
import { writeFileDurably } from '../../runtime/files/durable-file.ts'
import type { Log } from '../../runtime/log.ts'

export interface TableFileOptions {
  /** The table's name, for the log. */
  readonly name: string
  readonly file: string
  /** False: it is only read. */
  readonly isKept: boolean
  /** Lines that are appended before the whole file is written anew. */
  readonly linesMax: number
  readonly bytesMax?: number
  /** The whole table's lines, each with its end, in the order in which they are to be read again. */
  readonly all: () => readonly string[]
  readonly log: Log
}

export interface TableFile {
  /** Whole lines: one that a crash has cut is left out. Rejects with ENOENT where there is no copy yet. */
  read(): Promise<string[]>
  /** Never rejects. */
  writeAll(): Promise<void>
  /** Never rejects. */
  add(lines: readonly string[]): Promise<void>
}

export function makeTableFile(options: TableFileOptions): TableFile {
  const { name, file, isKept, linesMax, bytesMax = Number.POSITIVE_INFINITY, all, log } = options
  /** Since it was last written as a whole. */
  let added = { lines: 0, bytes: 0 }

  async function writing(written: Promise<void>): Promise<void> {
    await written.catch((error) => {
      added = { lines: linesMax + 1, bytes: 0 }
      log.error({ err: error }, `the copy of the ${name} could not be written`)
    })
  }

  async function writeAll(): Promise<void> {
    if (!isKept) return
    added = { lines: 0, bytes: 0 }
    await writing(writeFileDurably(file, all().join('')))
  }

  return {
    read: async () => (await readFile(file, 'utf8')).split('\n').slice(0, -1),
    writeAll,
    add: async (lines) => {
      if (!isKept) return
      const text = lines.join('')
      added = { lines: added.lines + lines.length, bytes: added.bytes + text.length }
      if (added.lines > linesMax || added.bytes > bytesMax) return writeAll()
      if (text !== '') await writing(appendFile(file, text))
    },
  }
}
