/**
 * Segments that their writers haven't sealed. Those with rows count in the backlog: without any in it, all that was
 * acknowledged is stored.
 */
import type { Marks } from './marks.ts'

export class OpenSegments {
  private readonly withRows = new Set<number>()

  constructor(private readonly marks: Marks | undefined) {}

  /** How many have rows. */
  get size(): number {
    return this.withRows.size
  }

  /** A number that rows may get now. */
  begin(number: number): void {
    this.marks?.begin(number)
  }

  /** The first row of a number that was begun was appended at `at` (monotonicMs), and nobody was answered yet. */
  gotRow(number: number, at: number): void {
    this.withRows.add(number)
    this.marks?.gotRow(number, at)
  }

  /** It goes on as one of those that are shipped. */
  sealed(number: number): void {
    this.withRows.delete(number)
  }

  /** No row of a number that was begun counts. */
  unused(number: number): void {
    this.withRows.delete(number)
    this.marks?.unused(number)
  }
}
