/** Rows as columns, which `unnest` makes rows of again: one statement writes any number of them. */
export function columnsOf<Row>(rows: readonly Row[], ...names: readonly (keyof Row)[]): unknown[][] {
  return names.map((name) => rows.map((row) => row[name] ?? null))
}
