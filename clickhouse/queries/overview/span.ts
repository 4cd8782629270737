/**
 * Which rows the figures of one range may see, and the pieces of SQL that say so. Every module of this folder counts by
 * the definitions of docs/metrics.md; test/property/overview.test.ts holds them to an independent computation.
 */
import { creditWindowMs, sessionLengthMaxMs } from '../../../schemas/limits.ts'
import type { Span } from '../../../schemas/time-range.ts'
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

/** SQL of the moment in the parameter `name`. */
export function moment(name: string): string {
  return `fromUnixTimestamp64Milli({${name}:Int64}, 'UTC')`
}

/** SQL condition: rows of the workspace from one parameter's moment to just before another's. */
export function within(from: string, to: string): string {
  return `workspace_id = {workspace:UInt32} AND occurred_at >= ${moment(from)} AND occurred_at < ${moment(to)}`
}

export const inRange = within('from', 'to')

/** SQL of a row's bucket: its begin in milliseconds. The parameter `bucket_starts` has the begin of each. */
export const bucketStart = 'roundDown(toUnixTimestamp64Milli(occurred_at), {bucket_starts:Array(Int64)})'

export interface Statement {
  readonly sql: string
  readonly params: Readonly<Record<string, unknown>>
}

/** The same with other names of its parameters: for parts of a statement that were made apart, and name theirs alike. */
export function prefixParams({ sql, params }: Statement, prefix: string): Statement {
  return {
    sql: sql.replace(/\{(\w+):/g, `{${prefix}_$1:`),
    params: Object.fromEntries(Object.entries(params).map(([name, value]) => [`${prefix}_${name}`, value])),
  }
}
