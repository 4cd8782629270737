/** How far the rows of a stream are taken: all of the lease and day with ids up to it. They arrive in the order of their ids. */
export interface ArrivalMark {
  /** Number of the lease of segment numbers. */
  readonly lease: number
  /** UTC, since 1970. */
  readonly day: number
  /** The last id. */
  readonly through: number
}
