/** One validation error in the shape of the contract (Pydantic v2's): what a 422 carries a list of. */
export interface ValidationError {
  readonly type: string
  readonly loc: readonly (string | number)[]
  readonly msg: string
  readonly input?: unknown
  readonly ctx?: Readonly<Record<string, unknown>>
}
