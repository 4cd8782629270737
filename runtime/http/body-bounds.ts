/** Bounds of request bodies that are read into memory, under Node's HTTP and uWebSockets.js alike. */

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
