/** What raw rows add to an aggregate table, hour by hour: the columns of the table after `generation` and `is_day`. */
import type { BoundSql } from '../bound-sql.ts'
import { conversionContributionsSql, type FoundConversions } from './credits.ts'
import type { LiveRows } from './live-rows.ts'
import { inPart, type RowScope, scopeSql } from './row-scope.ts'
import { sessionContributionsSql, sessionSidesSql } from './session-starts.ts'
import { type AggregateName, aggregateTables, countedColumns, hourOfEvent, keysOfEvent } from './tables.ts'

/** What was counted before, for conversions. */
export interface Counted {
  /** Where the touches of counted rows are found. */
  readonly touches: LiveRows
  /** The conversions to take back where they are computed again; undefined: there are none. */
  readonly conversions: LiveRows | undefined
  /** The conversions to be computed, where they were looked for already. */
  readonly found?: FoundConversions | undefined
}

/**
 * The aggregator stores sessions by another statement (session-starts.ts); comparisons take this one for all of them.
 * @returns a SELECT of workspace_id, hour, the table's keys and its columns
 */
export function contributionsSql(name: AggregateName, scope: RowScope, counted: Counted): BoundSql {
  if (name === 'agg_sessions') return sessionContributionsSql(sessionSidesSql(scope))
  if (name === 'agg_conversions') {
    return conversionContributionsSql(scope, counted.touches, counted.conversions, counted.found)
  }
  const table = aggregateTables[name]
  const { inHours, uncounted, params } = scopeSql(scope)
  const keys = ['workspace_id', `${hourOfEvent} AS hour`, ...keysOfEvent(table)]
  const names = ['workspace_id', 'hour', ...table.keys]
  const sql = `SELECT ${keys.join(', ')}, ${countedColumns(table)} FROM events
    WHERE ${inHours} AND ${uncounted} AND ${table.events} AND ${inPart(scope, 'id')}
    GROUP BY ${names.join(', ')}`
  return { sql, params }
}

/** The columns that `contributionsSql` answers, in its order. */
export function contributedColumns(name: AggregateName): string[] {
  const { keys, columns } = aggregateTables[name]
  return ['workspace_id', 'hour', ...keys, ...Object.keys(columns)]
}
