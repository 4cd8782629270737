/** SQL, a statement or a piece of one, with the values of the parameters that it names: `{name:Type}`. */
export interface BoundSql {
  readonly sql: string
  readonly params: Readonly<Record<string, unknown>>
}
