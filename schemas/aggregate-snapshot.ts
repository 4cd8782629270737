/**
 * What the aggregates are made of at one moment: which events are in them, and which generations of rows count. A reader
 * that holds an older one is as right as one that holds the newest: what was counted since then it finds among the raw rows.
 */

/** Ids of events; both ends belong to it. */
export interface IdRange {
  readonly from: number
  readonly through: number
}

/** An immutable set of rows of one UTC day in the aggregate tables. */
export interface LiveGeneration {
  readonly generation: number
  /** UTC, since 1970. */
  readonly day: number
  /** Whether it also has the rows of the whole day. */
  readonly isWhole: boolean
  /** How often its rows were merged: the higher, the more rows it has, and the longer it stays. */
  readonly level: number
  /** No event counted in it is later; milliseconds since 1970. */
  readonly lastAt: number
  /** Number of the attempt that brought the newest of what it holds: that of a merge, only where it left something out. */
  readonly newest: number
  /** Of how many generations that weren't merged it is made. */
  readonly parts: number
}

/** A generation with the rows of several days merged into one: what the whole generations of these days have, and no other. */
export interface LiveBlock {
  readonly generation: number
  /** UTC, since 1970. */
  readonly firstDay: number
  readonly days: number
}

/** Of this hour (UTC, since 1970) of a workspace, generations below this one don't count. */
export interface AggregateReset {
  readonly workspaceId: number
  readonly hour: number
  readonly generation: number
}

export interface AggregateSnapshot {
  /** Counts the commits. */
  readonly revision: number
  /** Of the last commit; milliseconds since 1970, by the clock of Postgres. */
  readonly committedAt: number
  /** Events with other ids are in no generation. Sorted, without overlaps. */
  readonly aggregated: readonly IdRange[]
  readonly generations: readonly LiveGeneration[]
  readonly blocks: readonly LiveBlock[]
  readonly resets: readonly AggregateReset[]
}
