/**
 * The lines of a text file, plain or gzipped, in constant memory. A line longer than the bound is no log line. It is
 * dropped and counted, so that a file of garbage can't fill the memory.
 */
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import type { Readable } from 'node:stream'
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

export interface TextFile {
  /** Its text, unpacked, in pieces. */
  readonly text: Readable
  /** Bytes of the file read so far, compressed ones where it is. */
  bytesRead(): number
  close(): void
}

const newline = 10
const chunkBytes = 256 * 1024

/** @throws CommandFailed naming the file, when it can't be opened */
export async function openLines(path: string): Promise<LineReader> {
  const file = await openText(path)
  const counts = { textBytes: 0, tooLong: 0 }

  async function* lines(): AsyncGenerator<string[]> {
    for await (const { found, bytes } of linesOf(path, file, logLineBytesMax)) {
      counts.textBytes += bytes
      const whole = found.filter((line) => line !== null)
      counts.tooLong += found.length - whole.length
      yield whole.map((line) => line.toString('utf8'))
    }
  }

  return {
    lines: lines(),
    bytesRead: file.bytesRead,
    textBytes: () => counts.textBytes,
    tooLong: () => counts.tooLong,
  }
}

/** Opens a text file, plain or gzipped. @throws CommandFailed naming the file, when it can't be opened */
export async function openText(path: string): Promise<TextFile> {
  const isGzipped = await startsAsGzip(path)
  const file = createReadStream(path, { highWaterMark: chunkBytes })
  const text = isGzipped ? createGunzip({ chunkSize: chunkBytes }) : file
  if (isGzipped) {
    file.on('error', (error) => text.destroy(error))
    file.pipe(text as NodeJS.WritableStream & typeof text)
  }
  return { text, bytesRead: () => file.bytesRead, close: () => file.destroy() }
}

/**
 * The lines of a file's text in pieces of a chunk each, without their ends. Null stands for a line longer than
 * `bytesMax`. `bytes` is the chunk's length.
 * @throws CommandFailed naming the file, when it can't be read to its end
 */
export async function* linesOf(
  path: string,
  { text, close }: TextFile,
  bytesMax: number,
): AsyncGenerator<{ readonly found: readonly (Buffer | null)[]; readonly bytes: number }> {
  let rest: Buffer = Buffer.alloc(0)
  // Within a line beyond the bound: everything up to the next newline belongs to it.
  let isSkipping = false
  try {
    for await (const chunk of text as AsyncIterable<Buffer>) {
      const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
      const found: (Buffer | null)[] = []
      let start = 0
      for (let end = bytes.indexOf(newline); end !== -1; end = bytes.indexOf(newline, start)) {
        if (isSkipping) isSkipping = false
        else found.push(end - start > bytesMax ? null : withoutReturn(bytes, start, end))
        start = end + 1
      }
      rest = isSkipping ? Buffer.alloc(0) : Buffer.from(bytes.subarray(start))
      if (rest.length > bytesMax) {
        found.push(null)
        isSkipping = true
        rest = Buffer.alloc(0)
      }
      yield { found, bytes: chunk.length }
    }
  } catch (error) {
    throw new CommandFailed(`${path} can't be read to its end: ${(error as Error).message}`)
  } finally {
    close()
  }
  if (rest.length > 0) yield { found: [withoutReturn(rest, 0, rest.length)], bytes: 0 }
}

function withoutReturn(bytes: Buffer, start: number, end: number): Buffer {
  const isCrLf = end > start && bytes[end - 1] === 13
  return bytes.subarray(start, isCrLf ? end - 1 : end)
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
    if (code === 'ENOENT') throw new CommandFailed(`there is no file ${path}`)
    throw new CommandFailed(code === 'EISDIR' ? `${path} is a folder` : `${path} can't be opened: ${message}`)
  }
}
