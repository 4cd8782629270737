/** The rest of a body that nobody wants, of which nobody said how long it is. */
import { drainedBytesMax } from './refusals.ts'
import type { HttpResponse } from './uws.ts'

const droppedWithinMs = 1_000

/**
 * Reads and drops it for a moment: a connection that is closed with unread data is reset, and the answer may be lost with it.
 * @param gone aborts when the client has gone
 * @returns whether all of it has come
 */
export function dropBody(response: HttpResponse, gone: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    let bytes = 0
    const timer = setTimeout(() => end(false), droppedWithinMs)
    function end(isWhole: boolean): void {
      clearTimeout(timer)
      resolve(isWhole)
    }
    gone.addEventListener('abort', () => end(false), { once: true })
    response.onData((chunk, isLast) => {
      bytes += chunk.byteLength
      if (isLast || bytes > drainedBytesMax) end(isLast)
    })
    response.resume()
  })
}
