/**
 * A body that is handed on while it arrives, to a reader that holds it back: nothing is read off the connection before the
 * reader wants it, and little more than that. Who sends nothing for a while, or takes too long altogether, is given up.
 * Held by test/integration/http-streams.test.ts.
 */
import { Readable } from 'node:stream'
import type { HttpResponse } from './uws.ts'

export interface StreamBounds {
  readonly bytesMax: number
  /** A sender who is waited for may send nothing for so long. */
  readonly stallMs: number
  /** The whole body must be here after this time. */
  readonly deadlineMs: number
}

/** Why the rest of a body won't be read: too long, too late, or its sender has gone. */
export class BodyFailed extends Error {
  override name = 'BodyFailed'

  constructor(readonly reason: 'too large' | 'late' | 'gone') {
    super(`the body was ${reason}`)
  }
}

/** What is read ahead of the reader; uWebSockets.js takes up to 512 KiB off a connection at a time. */
const readAheadBytes = 256 * 1024
/**
 * uWebSockets.js cuts whoever sent less than it likes in about ten seconds. Holding back a connection for no time at all
 * makes it count anew: how slow a sender may be is decided here.
 */
const renewMs = 2_000

export class StreamedBody extends Readable {
  /** All of it has arrived. */
  isWhole = false
  readonly #response: HttpResponse
  readonly #bounds: StreamBounds
  readonly #startedAt = performance.now()
  readonly #timer: NodeJS.Timeout
  #bytes = 0
  #waitedSince: number | undefined

  /** Must be called before the first await of the request. */
  constructor(response: HttpResponse, bounds: StreamBounds) {
    super({ highWaterMark: readAheadBytes })
    this.#response = response
    this.#bounds = bounds
    this.#timer = setInterval(() => this.#renew(), Math.min(renewMs, bounds.stallMs / 4))
    response.pause()
    response.onData((chunk, isLast) => this.#take(chunk, isLast))
    // Whoever reads it hears of a failure; where nobody does, it is no error of the process.
    this.on('error', () => {})
  }

  override _read(): void {
    if (this.isWhole || this.#waitedSince !== undefined) return
    this.#waitedSince = performance.now()
    this.#response.resume()
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    clearInterval(this.#timer)
    callback(error)
  }

  #take(chunk: ArrayBuffer, isLast: boolean): void {
    if (this.destroyed) return
    this.isWhole = isLast
    // The connection's next request is no part of it.
    if (isLast) this.#response.resume()
    this.#bytes += chunk.byteLength
    if (this.#bytes > this.#bounds.bytesMax) return void this.destroy(new BodyFailed('too large'))
    if (this.#waitedSince !== undefined) this.#waitedSince = performance.now()
    // A copy: the chunk's memory is uWebSockets.js's own and is used again after this call.
    const wantsMore = chunk.byteLength === 0 || this.push(Buffer.from(new Uint8Array(chunk)))
    if (isLast) {
      clearInterval(this.#timer)
      this.push(null)
    } else if (!wantsMore) {
      this.#waitedSince = undefined
      this.#response.pause()
    }
  }

  #renew(): void {
    const now = performance.now()
    const isStalled = this.#waitedSince !== undefined && now - this.#waitedSince > this.#bounds.stallMs
    if (isStalled || now - this.#startedAt > this.#bounds.deadlineMs) return void this.destroy(new BodyFailed('late'))
    if (this.#waitedSince === undefined) return
    this.#response.pause()
    this.#response.resume()
  }
}
