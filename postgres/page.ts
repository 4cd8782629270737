/** Which part of a list is read, newest first. */
export interface Page {
  readonly limit: number
  /** Only what is older than the row of this id. */
  readonly beforeId?: number | undefined
}
