export interface QueryOptions {
  deadlineMs?: number
  settings?: Readonly<Record<string, string | number>>
  /** Thousands of rows are expected: they come column by column, which costs both sides a third less. */
  isLong?: boolean
}
