/** A sealed segment: a run of whole groups of one log file, all synced. Where it lies; its rows are read when shipped. */
export interface Segment {
  /** Gives its rows their ids: number × 2^17 + index. */
  readonly number: number
  /** Which of the node's folders its file is in: see folders.ts. */
  readonly folder: number
  readonly file: number
  /** The bytes [start, end) of the file. */
  readonly start: number
  readonly end: number
  readonly rows: number
  readonly rowFormat: number
}
