/** SQL, a statement or a piece of one, with the values of the parameters that it names: `{name:Type}`. */
export interface BoundSql {
  readonly sql: string
  readonly params: Readonly<Record<string, unknown>>
}

/** A subselect whose rows are tuples `t`, one of each place in parameters that are lists. @param types by the parameter's name */
export function tuplesIn(types: Readonly<Record<string, string>>): string {
  const lists = Object.entries(types).map(([name, type]) => `{${name}:Array(${type})}`)
  return `(SELECT arrayJoin(arrayZip(${lists.join(',')})) AS t)`
}
