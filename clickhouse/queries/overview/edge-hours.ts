/**
 * An hour that ranges begin or end inside of, read whole for all of its moments: its rows, and the sessions that begin in it.
 * Ranges that begin a little later with each question ask nothing more of ClickHouse for an hour then.
 */
import { LRUCache } from 'lru-cache'
import { crowdedForMs, crowdedWorkspacesMax, edgeHourRowsMax } from '../../../schemas/limits.ts'
import type { Span } from '../../../schemas/time-range.ts'
import { type AlikeRows, readAlikeRows } from '../../aggregates/rows-at-hand.ts'
import type { BinaryColumns } from '../../row-binary.ts'
import type { SessionStarts } from './held-sessions.ts'
import { sessionStartsSql } from './raw-sessions.ts'
import { inAnySpan, type ReadableSpan, type Reader } from './span.ts'

export interface EdgeHour {
  readonly alike: readonly AlikeRows[]
  readonly starts: readonly SessionStarts[]
}

const startsColumns: BinaryColumns = {
  dimension: 'text',
  key: 'text',
  detail: 'text',
  ats: 'numbers',
  pageviews: 'numbers',
  events: 'numbers',
  bounces: 'numbers',
  durations: 'numbers',
  visitors: 'numbers',
}

/** Of more, answers are too large to be remembered: they would be asked for with each question. */
const groupsMax = 20_000
const sessionsMax = 80_000
/** Hours of workspaces that had more: they aren't read whole again for a while. */
const crowded = new LRUCache<string, true>({ max: crowdedWorkspacesMax, ttl: crowdedForMs })
const nameOf = ({ workspaceId }: ReadableSpan, hour: Span) => `${workspaceId} ${hour.start}`

/**
 * @param ch remembers
 * @param hour all of it is readable
 * @param contents parameters that are others when rows have come to the hour
 * @returns undefined where it has too many
 */
export async function readHourRows(
  ch: Reader,
  span: ReadableSpan,
  hour: Span,
  contents: Readonly<Record<string, unknown>>,
): Promise<AlikeRows[] | undefined> {
  if (crowded.has(nameOf(span, hour))) return undefined
  const inHour = inAnySpan('hour', [hour])
  const condition = `workspace_id = {workspace:UInt32} AND ${inHour.sql}`
  const params = { workspace: span.workspaceId, ...inHour.params, ...contents }
  const alike = await readAlikeRows(ch, { condition, params, max: edgeHourRowsMax }, true)
  if (alike !== undefined && alike.length <= groupsMax) return alike
  crowded.set(nameOf(span, hour), true)
  return undefined
}

/** The same with its sessions: what is said of the hour has to hold for a day to both sides too. */
export async function readEdgeHour(
  ch: Reader,
  span: ReadableSpan,
  hour: Span,
  contents: Readonly<Record<string, unknown>>,
): Promise<EdgeHour | undefined> {
  const alike = await readHourRows(ch, span, hour, contents)
  if (alike === undefined) return undefined
  const starts = await readStarts(ch, span, hour, contents)
  const sessions = starts.find(({ dimension }) => dimension === 'total')?.ats.length ?? 0
  if (sessions <= sessionsMax) return { alike, starts }
  crowded.set(nameOf(span, hour), true)
  return undefined
}

function readStarts(ch: Reader, span: ReadableSpan, hour: Span, contents: Readonly<Record<string, unknown>>) {
  const { sql, params } = sessionStartsSql({ ...span, readableFrom: Number.NEGATIVE_INFINITY }, hour)
  return ch.query<SessionStarts>(sql, { ...params, ...contents }, { binary: startsColumns, isLasting: true })
}
