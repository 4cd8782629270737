/** How many visitors of a range did what goals are about. Held by test/property/goals.test.ts against a naive computation. */
import type { FunnelStep } from '../../schemas/funnel-steps.ts'
import { moment } from '../rollups/event-sql.ts'
import { type EventsOfRange, isOfChosen } from './chosen-events.ts'
import { inWorkspace, isFolded } from './overview/figure-parts.ts'
import { coverageSql } from './overview/figures-sql.ts'
import { composedStatement, type Reader } from './reader.ts'
import { stepsSql } from './step-sql.ts'

export interface GoalsRequest extends EventsOfRange {
  /** A goal is done by one step. */
  readonly goals: readonly FunnelStep[]
}

export interface GoalCounts {
  /** Distinct ones in the range, whatever they did. */
  readonly visitors: number
  /** In the order of the goals: distinct visitors, and events. */
  readonly goals: readonly { readonly visitors: number; readonly completions: number }[]
}

/** All goals by one statement (two with a filter of channels). */
export async function readGoals(ch: Reader, request: GoalsRequest): Promise<GoalCounts> {
  const chosen = await isOfChosen(ch, request)
  const { conditions, params } = stepsSql(request.goals)
  const each = (sqlOf: (condition: string) => string) => `CAST([${conditions.map(sqlOf).join(',')}],'Array(UInt64)')`
  const [row] = await ch.query<{ visitors: number; did: readonly number[]; done: readonly number[] }>(
    `WITH ${coverageSql} AS coverage
     SELECT uniqExactIf(visitor,visitor!=0) AS visitors,
       ${each((condition) => `uniqExactIf(visitor,visitor!=0 AND ${condition})`)} AS did,
       ${each((condition) => `countIf(${condition})`)} AS done
     FROM events
     WHERE ${inWorkspace} AND occurred_at>=${moment('start')} AND occurred_at<${moment('end')} AND ${isFolded} AND ${chosen.sql}`,
    { ...chosen.params, ...params },
    { settings: composedStatement },
  )
  const { visitors, did, done } = row!
  return { visitors, goals: did.map((its, at) => ({ visitors: its, completions: done[at]! })) }
}
