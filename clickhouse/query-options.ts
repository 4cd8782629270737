/** How a statement is asked, and what is known of its answer, for those between it and ClickHouse. */
import type { BinaryColumns } from './row-binary.ts'

export interface QueryOptions<Answer = never> {
  deadlineMs?: number
  settings?: Record<string, string | number>
  /** The caller knows that the answer will be the same for ever: whoever stands between may remember it. */
  isLasting?: boolean
  /** Makes of each row what is returned, and remembered. */
  decode?: (row: Readonly<Record<string, unknown>>) => Answer
  /** Each row is of one of the texts of a list, and the same whichever others are listed: what is known of one is kept. */
  each?: EachOf
  /** To what is known of a list of generations, what others of them have is added when these are listed too. */
  growing?: Growing & { merge(rows: readonly Answer[]): Answer[] }
  /** The answer is of one workspace, and the same whichever others are listed beside it. */
  ofWorkspace?: OfWorkspace
  /** Nobody waits for it: it may go out together with what is asked of other workspaces. */
  isAhead?: boolean
  /** Thousands of rows are expected: they come column by column, which costs both sides a third less. */
  isLong?: boolean
  /** The columns of the answer, in order, which comes in bytes then, with no `decode`. Lists of numbers are Float64Arrays. */
  binary?: BinaryColumns
}

/** A parameter that is a list, and the column of the answer that has one of its texts. */
export interface EachOf {
  readonly parameter: string
  readonly column: string
}

/** A parameter that lists workspaces, one of them here, and the column of the answer that says whose a row is. */
export interface OfWorkspace {
  readonly parameter: string
  readonly column: string
}

/** A parameter that is a list of generations, all of one moment. */
export interface Growing {
  readonly parameter: string
  readonly generations: readonly Content[]
}

/** What a generation holds, whichever others it was merged of. */
export interface Content {
  readonly generation: number
  /** What is newest in it: what comes later has a higher number. */
  readonly newest: number
  /** Of how many it was merged; what was computed anew counts as one again. */
  readonly parts: number
}
