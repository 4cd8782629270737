/** The sealed segments that are in no manifest yet, or not with all their rows. */
import { insertBytesMax, segmentRowsMax } from '../../schemas/limits/log-limits.ts'
import type { Segment } from '../log/segment.ts'
import type { Part } from './manifest.ts'

const segmentsPerManifestMax = 512
const rowsPerManifestMax = 4 * segmentRowsMax

/**
 * A segment on its way to a manifest. `claimsPending`: all its rows need claims, and wait for Redis;
 * `remainderPending`: its rows without claims are frozen already, the others wait for Redis.
 */
export interface Waiting {
  readonly segment: Segment
  /** By the monotonic clock, as all ages here: the wall clock may jump. */
  readonly sealedAt: number
  state: WaitingState
}
export type WaitingState = 'fresh' | 'claimsPending' | 'remainderPending'

/** Rows that wait for Redis are older, but don't delay rows that need no claim. */
export const freezeOrder = ['remainderPending', 'claimsPending', 'fresh'] as const satisfies WaitingState[]

export class WaitingSegments {
  private readonly segments: Waiting[] = []
  /** Log bytes of all waiting segments. */
  bytes = 0

  get length(): number {
    return this.segments.length
  }

  get oldest(): Waiting | undefined {
    return this.segments[0]
  }

  push(waiting: Waiting): void {
    this.segments.push(waiting)
    this.bytes += bytesOf([waiting.segment])
  }

  /** The first segments in `state` that fit into one insert and have one row format. */
  together(state: WaitingState): Waiting[] {
    const taken: Waiting[] = []
    let bytes = 0
    let rows = 0
    for (const each of this.segments) {
      if (each.state !== state) continue
      bytes += bytesOf([each.segment])
      rows += each.segment.rows
      const fits = bytes <= insertBytesMax && rows <= rowsPerManifestMax && taken.length < segmentsPerManifestMax
      if (taken.length > 0 && (!fits || each.segment.rowFormat !== taken[0]!.segment.rowFormat)) break
      taken.push(each)
    }
    return taken
  }

  /** Removes segments that are in a manifest; with part `unclaimed` their other rows stay. */
  remove(taken: readonly Waiting[], part: Part): void {
    if (part === 'unclaimed') {
      for (const each of taken) each.state = 'remainderPending'
      return
    }
    for (const each of taken) this.bytes -= bytesOf([each.segment])
    const gone = new Set(taken)
    const left = this.segments.filter((each) => !gone.has(each))
    this.segments.splice(0, this.segments.length, ...left)
  }
}

/** Bytes of log. */
export function bytesOf(segments: readonly Segment[]): number {
  return segments.reduce((sum, { start, end }) => sum + end - start, 0)
}
