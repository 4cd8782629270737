/** Discards the rest of a body that isn't needed. */
import { droppedBytesMax, droppedWithinMs } from './body-bounds.ts'

/**
 * Reads and drops the rest of a body for a moment. A connection that is closed with unread data is reset, and the
 * answer may be lost with it; behind a proxy it mostly is.
 */
export class DroppedBody {
  #bytes = 0
  #isWhole = false
  #ended: (() => void) | undefined

  take(bytes: number, isLast: boolean): void {
    this.#bytes += bytes
    this.#isWhole ||= isLast
    if (this.#isOver) this.#ended?.()
  }

  /** @returns whether all of it has come; false where that takes too long */
  end(): Promise<boolean> {
    if (this.#isOver) return Promise.resolve(this.#isWhole)
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer)
        resolve(this.#isWhole)
      }
      const timer = setTimeout(end, droppedWithinMs)
      this.#ended = end
    })
  }

  get #isOver(): boolean {
    return this.#isWhole || this.#bytes > droppedBytesMax
  }
}
