/** A reply's body that is read from a file while it is sent, no faster than the client takes it. */
import type { FileHandle } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'

export interface FileBody {
  /** The part that is sent. */
  readonly from: number
  readonly bytes: number
  /** Called once, when it is sent; closed here. */
  open(): Promise<FileHandle>
}

const chunkBytes = 256 * 1024
/** A client that takes nothing for ten seconds is cut. */
const takenWithinMs = 10_000

/**
 * Sends the part.
 * @param writeHead writes status and headers
 * @throws Error when the file can't be read, before anything was sent or in the middle, or the client has gone
 */
export async function sendFile(
  response: ServerResponse,
  { from, bytes, open }: FileBody,
  writeHead: () => void,
): Promise<void> {
  const file = await open()
  const content = file.createReadStream({ start: from, end: from + bytes - 1, highWaterMark: chunkBytes })
  response.setTimeout(takenWithinMs, () => response.destroy())
  // Before Node gives the connection to the next answer: afterwards `response` has none.
  response.prependOnceListener('finish', () => response.setTimeout(0))
  // A file that is shorter than it was isn't taken for a whole one.
  response.strictContentLength = true
  writeHead()
  await pipeline(content, response)
}
