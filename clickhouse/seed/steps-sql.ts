/** Expressions by name, and queries that add them to another query's columns. */

export type Step = Readonly<Record<string, string>>

/**
 * `inner` with the names of the steps as columns, each step from those before it. In steps, because ClickHouse works a
 * name out anew wherever it stands within one: all in one take it half a second to read.
 */
export function inSteps(steps: readonly Step[], inner: string): string {
  return steps.reduce((query, step) => `SELECT *, ${named(step)} FROM (${query})`, inner)
}

export function named(expressions: Step): string {
  return Object.entries(expressions)
    .map(([name, sql]) => `${sql} AS ${name}`)
    .join(',\n        ')
}
