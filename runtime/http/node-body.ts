/**
 * Reads a request's body into memory: up to a bound, within a deadline, and within what all bodies that are still
 * arriving may take together. Held by test/integration/http-server.test.ts.
 */
import type { IncomingMessage } from 'node:http'
import { type BodyBounds, droppedBytesMax, droppedWithinMs } from './body-bounds.ts'
import { type Refusal, refusals } from './refusals.ts'

/**
 * Calls `done` once: with the whole body, or with why there is none.
 * @returns gives the body up: `done` isn't called any more
 */
export function readRequestBody(
  request: IncomingMessage,
  bodyLength: number | undefined,
  { bytesMax, deadlineMs, arriving }: BodyBounds,
  done: (body: Buffer | Refusal) => void,
): () => void {
  const chunks: Buffer[] = []
  let bytes = 0
  let taken = 0
  const timer = setTimeout(() => finish(refusals.bodyLate), deadlineMs)

  function giveUp(): void {
    clearTimeout(timer)
    request.off('data', take).off('end', end)
    arriving.giveBack(taken)
    taken = 0
  }
  function finish(outcome: Buffer | Refusal): void {
    giveUp()
    done(outcome)
  }
  function take(chunk: Buffer): void {
    bytes += chunk.length
    if (bytes > bytesMax) return finish(refusals.bodyTooLarge)
    // A body that arrives whole needs no room.
    if (bytes !== bodyLength || chunks.length > 0) {
      if (!arriving.take(chunk.length)) return finish(refusals.bodiesFull)
      taken += chunk.length
    }
    chunks.push(chunk)
  }
  function end(): void {
    finish(Buffer.concat(chunks, bytes))
  }
  request.on('data', take).on('end', end)
  return giveUp
}

/**
 * Reads and drops the rest of a body for a moment. A connection that is closed with unread data is reset, and the
 * answer may be lost with it; behind a proxy it mostly is.
 * @returns whether all of it has come; false where that takes too long
 */
export function dropRequestBody(request: IncomingMessage, bytesMax = droppedBytesMax): Promise<boolean> {
  if (request.complete && request.readableLength === 0) return Promise.resolve(true)
  return new Promise((resolve) => {
    let bytes = 0
    const timer = setTimeout(end, droppedWithinMs)
    function take(chunk: Buffer): void {
      bytes += chunk.length
      if (bytes > bytesMax) end()
    }
    function end(): void {
      clearTimeout(timer)
      request.off('data', take).off('end', end).off('close', end)
      resolve(request.complete)
    }
    request.on('data', take).on('end', end).on('close', end).resume()
  })
}
