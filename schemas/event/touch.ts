/** An event that says where its visitor came from. */
export interface Touch {
  /** Milliseconds since 1970. */
  readonly at: number
  readonly source: string
  readonly medium: string
  readonly campaign: string
  readonly content: string
}
