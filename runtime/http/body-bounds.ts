/** Bounds of request bodies, under Node's HTTP and uWebSockets.js alike. */

/** The rest of a refused body up to this length is read and dropped, so that the answer reaches a client still sending. */
export const droppedBytesMax = 16 * 1024 * 1024
/** Time that dropping may take. */
export const droppedWithinMs = 1_000

/** For a body that is read into memory. */
export interface BodyBounds {
  readonly bytesMax: number
  readonly deadlineMs: number
  readonly arriving: ArrivingBodies
}

/** The bytes of all bodies of a process that have begun to arrive and aren't whole. */
export class ArrivingBodies {
  private bytes = 0

  constructor(private readonly bytesMax: number) {}

  /** False when there is no room. */
  take(bytes: number): boolean {
    if (this.bytes + bytes > this.bytesMax) return false
    this.bytes += bytes
    return true
  }

  giveBack(bytes: number): void {
    this.bytes -= bytes
  }
}
