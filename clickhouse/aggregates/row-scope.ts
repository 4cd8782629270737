/** Which raw rows a computation of aggregates sees, and which of them count for the first time. */
import type { IdRange } from '../../schemas/aggregate-snapshot.ts'
import { hourMs } from '../../schemas/time-zone.ts'
import type { BoundSql } from '../bound-sql.ts'
import { idMax, idsIn } from './id-ranges.ts'
import { keyOfHour, keyOfHourSql } from './live-rows.ts'
import { hourOfEvent } from './tables.ts'

/** Hours since 1970, UTC; `end` isn't in it. */
export interface HourSpan {
  readonly start: number
  readonly end: number
}

export interface RowScope {
  /** Rows with other ids are as if they weren't there. */
  readonly visible: readonly IdRange[]
  /** Rows that the aggregates at hand don't have yet; `everything`: they have nothing of these hours. */
  readonly uncounted: readonly IdRange[] | 'everything'
  /** Only contributions to these hours are made. */
  readonly hours: HourSpan
  /** Undefined: all. */
  readonly workspaceIds?: readonly number[]
  /** Only contributions to these hours of these workspaces, which `hours` and `workspaceIds` enclose; undefined: to all. */
  readonly keys?: readonly { readonly workspaceId: number; readonly hour: number }[]
  /** A part of a large computation: sessions, and rows, with a hash of this remainder. */
  readonly part?: { readonly remainder: number; readonly of: number }
}

/** A session that lasts longer than this is several, or has its parts in none: docs/metrics.md. */
export const sessionHours = 24

/** SQL conditions over `events`, with their parameters. */
export interface ScopeSql {
  readonly visible: string
  readonly uncounted: string
  /** A visible row of one of the scope's workspaces, with a time between the scope's hours. */
  readonly inHours: string
  /** The same between hours so much wider that every session of these hours is seen whole. */
  readonly nearHours: string
  /** `hour`, and the workspace, belong to the scope's keys. */
  readonly isKey: string
  readonly params: Readonly<Record<string, unknown>>
}

export function scopeSql(scope: RowScope): ScopeSql {
  const everything: readonly IdRange[] = [{ from: 0, through: idMax }]
  const visible = idsIn(scope.visible, 'visible')
  const uncounted: BoundSql =
    scope.uncounted === 'everything' ? { sql: '1', params: {} } : idsIn(scope.uncounted, 'uncounted')
  const isAllVisible = JSON.stringify(scope.visible) === JSON.stringify(everything)
  const workspaces = ofWorkspaces(scope)
  const visibleSql = isAllVisible ? '1' : visible.sql
  const between = (from: string, to: string) =>
    `${workspaces} AND ${visibleSql} AND occurred_at >= ${moment(from)} AND occurred_at < ${moment(to)}`
  const isKeyOf = (hour: string) => (scope.keys === undefined ? '1' : `${keyOfHourSql(hour)} IN {keys:Array(UInt64)}`)
  return {
    visible: visibleSql,
    uncounted: uncounted.sql,
    inHours: `${between('hours_from', 'hours_to')} AND ${isKeyOf(hourOfEvent)}`,
    isKey: isKeyOf('hour'),
    nearHours: between('near_from', 'near_to'),
    params: {
      ...(isAllVisible ? {} : visible.params),
      ...uncounted.params,
      ...(scope.workspaceIds === undefined ? {} : { workspaces: scope.workspaceIds }),
      ...(scope.keys === undefined ? {} : { keys: scope.keys.map(keyOfHour) }),
      hours_from: scope.hours.start * hourMs,
      hours_to: scope.hours.end * hourMs,
      near_from: Math.max(0, scope.hours.start - sessionHours) * hourMs,
      near_to: (scope.hours.end + sessionHours) * hourMs,
      hour_start: scope.hours.start,
      hour_end: scope.hours.end,
    },
  }
}

/** SQL condition: `column` belongs to the scope's part of a large computation. */
export function inPart({ part }: RowScope, column: string): string {
  return part === undefined ? '1' : `cityHash64(${column}) % ${part.of} = ${part.remainder}`
}

/** SQL condition: the row is of one of these workspaces, the parameter `workspaces`; of any where none are named. */
export function ofWorkspaces({ workspaceIds }: { readonly workspaceIds?: readonly number[] | undefined }): string {
  return workspaceIds === undefined ? '1' : 'workspace_id IN {workspaces:Array(UInt32)}'
}

/** SQL of the moment in the parameter `name`. */
export function moment(name: string): string {
  return `fromUnixTimestamp64Milli({${name}:Int64}, 'UTC')`
}
