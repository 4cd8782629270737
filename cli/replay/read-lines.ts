/**
 * The lines of a text file, plain or gzipped, in constant memory. A line longer than the bound is no log line. It is
 * dropped and counted, so that a file of garbage can't fill the memory.
 */
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { createGunzip } from 'node:zlib'
import { logLineBytesMax } from '../../schemas/limits/event-limits.ts'
import { CommandFailed } from '../command.ts'

export interface LineReader {
  /** Lines in pieces of a chunk each; bytes that aren't UTF-8 become U+FFFD. */
  readonly lines: AsyncIterable<string[]>
  /** Bytes of the file read so far, compressed ones where it is. */
  bytesRead(): number
  /** Bytes of text so far. */
  textBytes(): number
  /** Lines dropped for their length so far. */
  tooLong(): number
}

const newline = 10
const chunkBytes = 256 * 1024

/** @throws CommandFailed naming the file, when it can't be opened */
export async function openLines(path: string): Promise<LineReader> {
  const isGzipped = await startsAsGzip(path)
  const file = createReadStream(path, { highWaterMark: chunkBytes })
  const text = isGzipped ? createGunzip({ chunkSize: chunkBytes }) : file
  if (isGzipped) {
    file.on('error', (error) => text.destroy(error))
    file.pipe(text as NodeJS.WritableStream & typeof text)
  }
  const counts = { textBytes: 0, tooLong: 0 }

  async function* lines(): AsyncGenerator<string[]> {
    let rest: Buffer = Buffer.alloc(0)
    // Within a line beyond the bound: everything up to the next newline belongs to it.
    let isSkipping = false
    try {
      for await (const chunk of text as AsyncIterable<Buffer>) {
        counts.textBytes += chunk.length
        const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
        const found: string[] = []
        let start = 0
        for (let end = bytes.indexOf(newline); end !== -1; end = bytes.indexOf(newline, start)) {
          if (isSkipping) isSkipping = false
          else if (end - start > logLineBytesMax) counts.tooLong++
          else found.push(toText(bytes, start, end))
          start = end + 1
        }
        rest = isSkipping ? Buffer.alloc(0) : Buffer.from(bytes.subarray(start))
        if (rest.length > logLineBytesMax) {
          counts.tooLong++
          isSkipping = true
          rest = Buffer.alloc(0)
        }
        yield found
      }
    } catch (error) {
      throw new CommandFailed(`${path} can't be read to its end: ${(error as Error).message}`)
    } finally {
      file.destroy()
    }
    if (rest.length > 0) yield [toText(rest, 0, rest.length)]
  }

  return {
    lines: lines(),
    bytesRead: () => file.bytesRead,
    textBytes: () => counts.textBytes,
    tooLong: () => counts.tooLong,
  }
}

function toText(bytes: Buffer, start: number, end: number): string {
  const isCrLf = end > start && bytes[end - 1] === 13
  return bytes.toString('utf8', start, isCrLf ? end - 1 : end)
}

async function startsAsGzip(path: string): Promise<boolean> {
  try {
    const handle = await open(path)
    try {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(2), 0, 2, 0)
      return bytesRead === 2 && buffer[0] === 0x1f && buffer[1] === 0x8b
    } finally {
      await handle.close()
    }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw new CommandFailed(code === 'ENOENT' ? `there is no file ${path}` : `${path} can't be opened: ${message}`)
  }
}
