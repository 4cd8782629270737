/** How far the rows of a stream are taken, by the order in which they arrived: all of the lease and day with ids up to it. */
export interface ArrivalMark {
  /** Number of the lease of segment numbers. */
  readonly lease: number
  /** UTC, since 1970. */
  readonly day: number
  /** The last id. */
  readonly through: number
}
