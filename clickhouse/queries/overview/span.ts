/**
 * Which rows the figures of one range may see, and the pieces of SQL that say so. Every module of this folder counts by
 * the definitions of docs/metrics.md; test/property/overview.test.ts holds them to an independent computation.
 */
import { creditWindowMs, sessionLengthMaxMs } from '../../../schemas/limits.ts'
import type { Span } from '../../../schemas/time-range.ts'
import { moment } from '../../aggregates/row-scope.ts'
import type { BoundSql } from '../../bound-sql.ts'
import type { ClickHouse } from '../../client.ts'

export type Reader = Pick<ClickHouse, 'query'>

/** One workspace's rows of a range; those before `readableFrom` are as if they weren't there. */
export interface ReadableSpan extends Span {
  readonly workspaceId: number
  readonly readableFrom: number
}

/** The range of DateTime64: no row lies after it, and a later bound would wrap. */
const columnEnd = Date.UTC(2200, 0, 1)

/** The values of all parameters that the pieces below name. Edges are milliseconds since 1970 UTC. */
export function spanParams({ workspaceId, start, end, readableFrom }: ReadableSpan): Record<string, number> {
  const readable = (moment: number) => Math.min(Math.max(moment, readableFrom), columnEnd)
  const from = readable(start)
  return {
    workspace: workspaceId,
    from,
    to: Math.max(from, readable(end)),
    session_from: readable(start - sessionLengthMaxMs),
    session_to: readable(end + sessionLengthMaxMs),
    credit_from: readable(start - creditWindowMs),
  }
}

/** SQL condition: rows of the workspace from one parameter's moment to just before another's. */
export function within(from: string, to: string): string {
  return `workspace_id = {workspace:UInt32} AND occurred_at >= ${moment(from)} AND occurred_at < ${moment(to)}`
}

export const inRange = within('from', 'to')

/** SQL of the last of the moments in the parameter `bucket_starts` that isn't after the row's, in milliseconds. */
export const bucketStart = 'roundDown(toUnixTimestamp64Milli(occurred_at), {bucket_starts:Array(Int64)})'

/** SQL condition over `events`: a row's time lies in one of some spans, at least one. `name` tells the parameters from others. */
export function inAnySpan(name: string, spans: readonly Span[]): BoundSql {
  const params: Record<string, number> = {}
  const conditions = spans.map(({ start, end }, at) => {
    const [from, to] = [`${name}_from_${at}`, `${name}_to_${at}`]
    Object.assign(params, { [from]: start, [to]: Math.max(start, end) })
    return `occurred_at >= ${moment(from)} AND occurred_at < ${moment(to)}`
  })
  return { sql: `(${conditions.join(' OR ')})`, params }
}

/** The spans so much wider that every session that begins in one of them is seen whole, as far as it is readable. */
export function aroundSessions(spans: readonly Span[], readableFrom: number): Span[] {
  return spans.map(({ start, end }) => ({
    start: Math.max(start - sessionLengthMaxMs, readableFrom),
    end: end + sessionLengthMaxMs,
  }))
}

/** The same with other names of its parameters: for parts of a statement that were made apart, and name theirs alike. */
export function prefixParams({ sql, params }: BoundSql, prefix: string): BoundSql {
  return {
    sql: sql.replace(/\{(\w+):/g, `{${prefix}_$1:`),
    params: Object.fromEntries(Object.entries(params).map(([name, value]) => [`${prefix}_${name}`, value])),
  }
}
