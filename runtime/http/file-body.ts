/** A reply's body that is read from a file while it is sent, no faster than the client takes it. */
import type { FileHandle } from 'node:fs/promises'
import type { HttpResponse } from './uws.ts'

export interface FileBody {
  /** The part that is sent. */
  readonly from: number
  readonly bytes: number
  /** Called once, when it is sent; closed here. */
  open(): Promise<FileHandle>
}

const chunkBytes = 256 * 1024

/**
 * Sends the part; a client that takes nothing for ten seconds is cut by uWebSockets.js.
 * @param writeHead writes status and headers, without Content-Length
 * @param gone aborts when the client has gone: the response mustn't be touched then
 * @throws Error when the file can't be read, before anything was sent or in the middle
 */
export async function sendFile(
  response: HttpResponse,
  { from, bytes, open }: FileBody,
  writeHead: () => void,
  gone: AbortSignal,
): Promise<void> {
  const file = await open()
  try {
    const buffer = Buffer.allocUnsafe(Math.min(chunkBytes, bytes))
    for (let sent = 0; sent < bytes; ) {
      const { bytesRead } = await file.read(buffer, 0, Math.min(buffer.length, bytes - sent), from + sent)
      if (gone.aborted) return
      if (bytesRead === 0) throw new Error('a file is shorter than it was')
      await sendPart(response, buffer.subarray(0, bytesRead), { at: sent, of: bytes }, writeHead, gone)
      if (gone.aborted) return
      sent += bytesRead
    }
  } finally {
    await file.close()
  }
}

/** Resolves when all of the part is on its way, or the client has gone. */
function sendPart(
  response: HttpResponse,
  part: Buffer,
  { at, of }: { at: number; of: number },
  writeHead: () => void,
  gone: AbortSignal,
): Promise<void> {
  return new Promise((resolve) => {
    let isSent = false
    const send = (rest: Buffer): boolean => {
      const [isTaken, isAnswered] = response.tryEnd(rest, of)
      isSent = isTaken || isAnswered
      return isTaken
    }
    response.cork(() => {
      if (at === 0) writeHead()
      send(part)
    })
    if (isSent) return resolve()
    const end = () => {
      gone.removeEventListener('abort', end)
      resolve()
    }
    gone.addEventListener('abort', end)
    response.onWritable((offset) => {
      const isTaken = isSent || send(part.subarray(offset - at))
      if (isSent) end()
      return isTaken
    })
  })
}
