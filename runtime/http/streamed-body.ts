/**
 * A body that is handed on while it arrives, to a reader that holds it back. Little more is read off the connection
 * than the reader wants. A sender that is silent for a while, or takes too long altogether, is given up. Held by
 * test/integration/http-streams.test.ts.
 */
import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'

export interface StreamBounds {
  readonly bytesMax: number
  /** Longest silence of a sender while the reader waits for it. */
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

const readAheadBytes = 256 * 1024
/** How often it is looked after senders who send nothing. */
const lookMs = 2_000

/** Destroyed, it leaves the connection as it is, for the answer. */
export class StreamedBody extends Readable {
  /** All of it has arrived. */
  isWhole = false
  readonly #request: IncomingMessage
  readonly #bounds: StreamBounds
  readonly #startedAt = performance.now()
  readonly #timer: NodeJS.Timeout
  #bytes = 0
  #waitedSince: number | undefined

  constructor(request: IncomingMessage, bounds: StreamBounds) {
    super({ highWaterMark: readAheadBytes })
    this.#request = request
    this.#bounds = bounds
    this.#timer = setInterval(() => this.#look(), Math.min(lookMs, bounds.stallMs / 4))
    request.on('data', this.#take).on('end', this.#end).pause()
    // Whoever reads it hears of a failure; where nobody does, it is no error of the process.
    this.on('error', () => {})
  }

  override _read(): void {
    if (this.isWhole || this.#waitedSince !== undefined) return
    this.#waitedSince = performance.now()
    this.#request.resume()
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    clearInterval(this.#timer)
    this.#request.off('data', this.#take).off('end', this.#end)
    callback(error)
  }

  readonly #take = (chunk: Buffer): void => {
    this.#bytes += chunk.length
    if (this.#bytes > this.#bounds.bytesMax) return void this.destroy(new BodyFailed('too large'))
    this.#waitedSince = performance.now()
    if (this.push(chunk)) return
    this.#waitedSince = undefined
    this.#request.pause()
  }

  readonly #end = (): void => {
    clearInterval(this.#timer)
    this.isWhole = true
    this.push(null)
  }

  #look(): void {
    const now = performance.now()
    const isStalled = this.#waitedSince !== undefined && now - this.#waitedSince > this.#bounds.stallMs
    if (isStalled || now - this.#startedAt > this.#bounds.deadlineMs) this.destroy(new BodyFailed('late'))
  }
}
