/**
 * Reads a request's body into memory, over uWebSockets.js. Three bounds hold: its size, a deadline, and the bytes of
 * all bodies that are still arriving. Held by test/integration/ingest-http.test.ts.
 */
import type { BodyBounds } from './body-bounds.ts'
import { DroppedBody } from './dropped-body.ts'
import { type Refusal, refusals } from './refusals.ts'
import type { HttpResponse } from './uws.ts'

/**
 * Calls `done` once: with the whole body, which is valid during that call only, or with why there is none. Must be
 * called before the first await of the request. Nothing is allocated for a length that is only claimed.
 * @returns a function for the request's abort: it frees everything at once, and `done` isn't called any more
 */
export function readBody(
  response: HttpResponse,
  { bytesMax, deadlineMs, arriving }: BodyBounds,
  done: (body: Buffer | Refusal, rest?: DroppedBody) => void,
): () => DroppedBody {
  // A body that arrives whole, as most do, needs neither a copy nor a timer.
  let chunks: Buffer[] | undefined
  let timer: NodeJS.Timeout | undefined
  let bytes = 0
  let taken = 0
  let isDone = false
  let rest: DroppedBody | undefined

  function end(): void {
    isDone = true
    clearTimeout(timer)
    arriving.giveBack(taken)
    taken = 0
    chunks = undefined
  }
  function drop(): DroppedBody {
    end()
    rest ??= new DroppedBody()
    return rest
  }
  function refuse(refusal: Refusal, isLast = false): void {
    const dropped = drop()
    dropped.take(0, isLast)
    done(refusal, dropped)
  }

  response.onData((chunk, isLast) => {
    if (isDone) return rest?.take(chunk.byteLength, isLast)
    bytes += chunk.byteLength
    if (bytes > bytesMax) return refuse(refusals.bodyTooLarge, isLast)
    if (isLast) {
      const body = chunks ? Buffer.concat([...chunks, Buffer.from(chunk)], bytes) : Buffer.from(chunk)
      end()
      return done(body)
    }
    if (!arriving.take(chunk.byteLength)) return refuse(refusals.bodiesFull)
    taken += chunk.byteLength
    chunks ??= []
    // A copy: the chunk's memory is uWebSockets.js's own and is used again after this call.
    chunks.push(Buffer.from(new Uint8Array(chunk)))
    timer ??= setTimeout(() => refuse(refusals.bodyLate), deadlineMs)
  })
  return drop
}
