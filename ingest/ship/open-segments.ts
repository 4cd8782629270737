/**
 * Segments that their writers haven't sealed. Those with rows count in the backlog: an empty backlog means that all
 * acknowledged events are stored. The calls are passed on to the marks (marks.ts).
 */
import type { Marks } from './marks.ts'

export class OpenSegments {
  private readonly withRows = new Set<number>()

  constructor(private readonly marks: Marks | undefined) {}

  /** How many have rows. */
  get size(): number {
    return this.withRows.size
  }

  /** The segment of that number may get rows from now on. */
  begin(number: number): void {
    this.marks?.begin(number)
  }

  /** The segment's first row was appended at `at` (monotonicMs), and its request isn't answered yet. */
  gotRow(number: number, at: number): void {
    this.withRows.add(number)
    this.marks?.gotRow(number, at)
  }

  /** From now on it counts among the segments that wait to be shipped. */
  sealed(number: number): void {
    this.withRows.delete(number)
  }

  /** It ended without a row that counts. */
  unused(number: number): void {
    this.withRows.delete(number)
    this.marks?.unused(number)
  }
}
