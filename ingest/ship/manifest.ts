/**
 * A manifest lists the content of one insert: segments, and which of their rows. Once it is frozen (written and synced in
 * the journal) it never changes, even if its claims are lost, so any step may be repeated.
 */
import type { Segment } from '../log/segment.ts'

/**
 * Which rows of the segments a manifest has. While Redis is away there are two: first of the rows that need no claim,
 * later of the others.
 */
export type Part = 'all' | 'unclaimed' | 'claimed'

/** Whether these parts are all the rows of a segment. */
export function isWhole(parts: ReadonlySet<Part>): boolean {
  return parts.has('all') || (parts.has('claimed') && parts.has('unclaimed'))
}

export interface Manifest {
  /** The number of its first segment, doubled, plus one for the part `claimed`: unique, and the token of its insert. */
  readonly id: number
  readonly part: Part
  readonly segments: readonly Segment[]
  /** Rows of the part that are not kept because another node's claim came first: index lists by segment number. */
  readonly dropped: Readonly<Record<string, readonly number[]>>
  /** Rows kept. */
  readonly rows: number
  readonly hasSides: boolean
  /** The (workspace, UTC hour) pairs of the rows kept, which a repair would have to redo. Hours count from 1970. */
  readonly keys: readonly (readonly [number, number])[]
}

export function manifestId(firstSegment: number, part: Part): number {
  return firstSegment * 2 + (part === 'claimed' ? 1 : 0)
}
