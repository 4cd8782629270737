/**
 * The JSON objects of a text, one after another: those in a list, however long it is, or those of lines. Only one object
 * is held at a time, and of one that is longer than the bound nothing. Nothing here looks into an object.
 */
import { CommandFailed } from '../command.ts'
import type { TextFile } from '../replay/read-lines.ts'

const [quote, backslash] = [0x22, 0x5c]
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d]
/** Blanks, line ends, and what stands between the objects of a list; a byte order mark. */
const between = new Set([0x20, 0x09, 0x0a, 0x0d, 0x2c, 0xef, 0xbb, 0xbf])

/**
 * The objects that end in each chunk; null for one longer than `bytesMax`.
 * @throws CommandFailed naming the file, when it holds anything but objects, or ends within one
 */
export async function* readJsonObjects(
  path: string,
  { text, close }: TextFile,
  bytesMax: number,
): AsyncGenerator<(Buffer | null)[]> {
  let [depth, isInText, isEscaped, isListOpen] = [0, false, false, false]
  /** Parts of the object that is being read; null once it is too long. */
  let parts: Buffer[] | null = []
  let [bytes, objects] = [0, 0]

  function keep(part: Buffer): void {
    bytes += part.length
    if (bytes > bytesMax) parts = null
    // The chunk isn't kept for the sake of its end.
    else parts?.push(Buffer.from(part))
  }

  function objectsIn(chunk: Buffer): (Buffer | null)[] {
    const found: (Buffer | null)[] = []
    let start = 0
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at]!
      if (isInText) {
        if (isEscaped) isEscaped = false
        else if (byte === backslash) isEscaped = true
        else if (byte === quote) isInText = false
      } else if (depth > 0) {
        if (byte === quote) isInText = true
        else if (byte === openBrace || byte === openBracket) depth++
        else if ((byte === closeBrace || byte === closeBracket) && --depth === 0) {
          keep(chunk.subarray(start, at + 1))
          found.push(parts && Buffer.concat(parts))
          objects++
          parts = []
          bytes = 0
        }
      } else if (byte === openBrace) {
        depth = 1
        start = at
      } else if (byte === openBracket && !isListOpen) isListOpen = true
      else if (byte === closeBracket && isListOpen) isListOpen = false
      else if (!between.has(byte)) {
        throw new CommandFailed(`${path} is no list of JSON objects, nor lines of them, behind ${objects} objects`)
      }
    }
    if (depth > 0) keep(chunk.subarray(start))
    return found
  }

  try {
    for await (const chunk of text as AsyncIterable<Buffer>) yield objectsIn(chunk)
  } catch (error) {
    if (error instanceof CommandFailed) throw error
    throw new CommandFailed(`${path} can't be read to its end: ${(error as Error).message}`)
  } finally {
    close()
  }
  if (depth > 0 || isListOpen) throw new CommandFailed(`${path} ends in the middle, behind ${objects} objects`)
}
