/** The rest of a body that nobody wants. */
import { drainedBytesMax } from './refusals.ts'
import type { HttpResponse } from './uws.ts'

const droppedWithinMs = 1_000

/**
 * What comes of it is read and dropped for a moment: a connection that is closed with unread data is reset, and the answer may
 * be lost with it; behind a proxy it mostly is.
 */
export class DroppedBody {
  #bytes = 0
  #isWhole = false
  #ended: (() => void) | undefined

  constructor(private readonly bytesMax = drainedBytesMax) {}

  take(bytes: number, isLast: boolean): void {
    this.#bytes += bytes
    this.#isWhole ||= isLast
    if (this.#isOver) this.#ended?.()
  }

  /**
   * @param gone aborts when the client has gone; without it, nobody minds the wait
   * @returns whether all of it has come; false where that takes too long
   */
  end(gone?: AbortSignal): Promise<boolean> {
    if (this.#isOver) return Promise.resolve(this.#isWhole)
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer)
        resolve(this.#isWhole)
      }
      const timer = setTimeout(end, droppedWithinMs)
      gone?.addEventListener('abort', end, { once: true })
      this.#ended = end
    })
  }

  get #isOver(): boolean {
    return this.#isWhole || this.#bytes > this.bytesMax
  }
}

/** Not to be called while a part of the body is being handled. */
export function dropBody(response: HttpResponse, bytesMax = drainedBytesMax): DroppedBody {
  const dropped = new DroppedBody(bytesMax)
  response.onData((chunk, isLast) => dropped.take(chunk.byteLength, isLast))
  return dropped
}
