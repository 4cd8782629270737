/** Reads a request's body into memory, up to a bound and within a deadline. */
import { type Refusal, refusals } from './refusals.ts'
import type { HttpResponse } from './uws.ts'

/**
 * Calls `done` once, with the whole body or with why there is none; never after an abort, which `isAborted` tells.
 * Must be called before the first await of the request. Nothing is allocated for a length that is only claimed.
 */
export function readBody(
  response: HttpResponse,
  bytesMax: number,
  deadlineMs: number,
  isAborted: () => boolean,
  done: (body: Buffer | Refusal) => void,
): void {
  const chunks: Buffer[] = []
  let bytes = 0
  let isDone = false
  // Set only when the first chunk isn't the last: most bodies arrive whole.
  let timer: NodeJS.Timeout | undefined

  function finish(result: Buffer | Refusal): void {
    isDone = true
    clearTimeout(timer)
    chunks.length = 0
    if (!isAborted()) done(result)
  }

  response.onData((chunk, isLast) => {
    if (isDone) return
    bytes += chunk.byteLength
    if (bytes > bytesMax) return finish(refusals.bodyTooLarge)
    // The chunk's memory is uWebSockets.js's own and is reused after this call.
    if (chunk.byteLength > 0) chunks.push(Buffer.from(Buffer.from(chunk)))
    if (isLast) return finish(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, bytes))
    timer ??= setTimeout(() => finish(refusals.bodyLate), deadlineMs)
  })
}
