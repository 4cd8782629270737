/**
 * Replays: chunks together by session. Lists read narrow columns only. The newest version of a chunk counts (FINAL): it may
 * have been sent twice.
 */
import { replaySessionMsMax } from '../../schemas/limits/replay-limits.ts'
import type { BoundSql } from '../bound-sql.ts'
import { moment } from '../rollups/event-sql.ts'
import { timesIn } from './people/browser-times.ts'
import type { Reader } from './reader.ts'

/** A replay with its moments in milliseconds since 1970 UTC. */
export interface ReplayRow {
  readonly id: number
  /** Decimal text; that of its last chunk, as the id of the browser. */
  readonly visitor: string
  readonly sessionId: string
  readonly anonymousId: string
  readonly startedAt: number
  readonly endedAt: number
  readonly pages: number
  readonly entryPath: string
  readonly clicks: number
  readonly device: string
  readonly browser: string
  readonly country: string
  readonly bytes: number
  readonly eventCount: number
}

/** The time of a browser that is somebody's; null: without an end. */
export interface ReplayTime {
  /** Decimal text. */
  readonly visitor: string
  readonly fromAt: number
  readonly toAt: number | null
}

export interface ReplaysRequest {
  readonly workspaceId: number
  /** Replays that began from `start` to just before `end`. */
  readonly start: number
  readonly end: number
  readonly beforeId: number | undefined
  readonly sessionId: string | undefined
  /** A path that any of its pages has. */
  readonly path: string | undefined
  readonly durationMsMin: number
  /** Undefined: everybody's. */
  readonly times: readonly ReplayTime[] | undefined
  readonly limit: number
}

const startedAt = 'min(toUnixTimestamp64Milli(occurred_at))'
const endedAt = 'max(toUnixTimestamp64Milli(occurred_at) + duration_ms)'
/** The columns of chunks: a replay's `id` is its session. */
const first = '(replay_chunks.occurred_at, replay_chunks.id)'

const columns = `session AS id, toString(argMax(visitor, ${first})) AS visitor, argMax(session_id, ${first}) AS sessionId,
  argMax(anonymous_id, ${first}) AS anonymousId, ${startedAt} AS startedAt, ${endedAt} AS endedAt,
  uniqExact(page_id, path) AS pages, argMin(path, ${first}) AS entryPath, sum(clicks) AS clicks,
  toString(argMin(device, ${first})) AS device, toString(argMin(browser, ${first})) AS browser,
  replaceAll(toString(argMin(country, ${first})), '\\0', '') AS country, sum(bytes) AS bytes, sum(event_count) AS eventCount`

/** Newest first; if two began at once, the greater id first. */
export function readReplays(ch: Reader, request: ReplaysRequest): Promise<ReplayRow[]> {
  const { workspaceId, start, end, beforeId, sessionId, path, durationMsMin, times, limit } = request
  const where = `workspace_id = {workspace:UInt32} AND occurred_at >= ${moment('from')} AND occurred_at < ${moment('to')}`
  const isTheirs = times && isOfTimes(times, where)
  const having = [
    `startedAt >= {start:Int64} AND startedAt < {end:Int64} AND endedAt - startedAt >= {duration:Int64}`,
    ...(sessionId === undefined ? [] : ['countIf(session_id = {session_id:String}) > 0']),
    ...(path === undefined ? [] : ['countIf(path = {path:String}) > 0']),
    ...(isTheirs === undefined ? [] : [`countIf(${isTheirs.sql}) > 0`]),
    ...(beforeId === undefined
      ? []
      : [
          `(startedAt, id) < (SELECT ${startedAt}, {before_id:UInt64} FROM replay_chunks FINAL
            WHERE workspace_id = {workspace:UInt32} AND session = {before_id:UInt64})`,
        ]),
  ]
  return ch.query<ReplayRow>(
    `SELECT ${columns} FROM replay_chunks FINAL
     WHERE ${where}
     GROUP BY session HAVING ${having.join(' AND ')}
     ORDER BY startedAt DESC, id DESC LIMIT {limit:UInt32}`,
    {
      workspace: workspaceId,
      start,
      end,
      duration: durationMsMin,
      limit,
      before_id: beforeId ?? 0,
      // Only whole sessions are counted: their other chunks lie around the span.
      from: Math.max(0, start - replaySessionMsMax),
      to: end + replaySessionMsMax,
      session_id: sessionId ?? '',
      path: path ?? '',
      ...isTheirs?.params,
    },
  )
}

/** Undefined for a session without a recording. */
export async function readReplayOf(ch: Reader, workspaceId: number, session: number): Promise<ReplayRow | undefined> {
  const [row] = await ch.query<ReplayRow>(
    `SELECT ${columns} FROM replay_chunks FINAL
     WHERE workspace_id = {workspace:UInt32} AND session = {session:UInt64} GROUP BY session`,
    { workspace: workspaceId, session },
  )
  return row
}

export interface ChunkRow {
  readonly id: number
  readonly pageId: string
  readonly sequence: number
  readonly startedAt: number
  readonly url: string
  readonly jsonBytes: number
}

/**
 * Chunks of a replay behind `afterId`, by id, without their events. Each writer has leases of ids, so that a chunk may come
 * with a lower id than earlier ones.
 */
export function readChunks(
  ch: Reader,
  at: { readonly workspaceId: number; readonly session: number; readonly afterId: number; readonly limit: number },
): Promise<ChunkRow[]> {
  return ch.query<ChunkRow>(
    `SELECT id, page_id AS pageId, sequence, toUnixTimestamp64Milli(occurred_at) AS startedAt, url, json_bytes AS jsonBytes
     FROM replay_chunks FINAL
     WHERE workspace_id = {workspace:UInt32} AND session = {session:UInt64} AND id > {after:UInt64}
     ORDER BY id LIMIT {limit:UInt32}`,
    { workspace: at.workspaceId, session: at.session, after: at.afterId, limit: at.limit },
  )
}

/** By id: base64 of gzip, as they were sent. @param sessions of the chunks */
export async function readPackedEvents(
  ch: Reader,
  workspaceId: number,
  sessions: readonly number[],
  ids: readonly number[],
): Promise<Map<number, string>> {
  if (ids.length === 0) return new Map()
  const rows = await ch.query<{ id: number; events: string }>(
    `SELECT id, events FROM replay_chunks
     WHERE workspace_id = {workspace:UInt32} AND session IN {sessions:Array(UInt64)} AND id IN {ids:Array(UInt64)}`,
    { workspace: workspaceId, sessions, ids },
  )
  return new Map(rows.map(({ id, events }) => [id, events]))
}

/** SQL condition: the chunk is of one of these times. @param where condition over the chunks that are asked about */
export function isOfTimes(times: readonly ReplayTime[], where: string): BoundSql {
  const known = timesIn(
    times.map((time) => ({ ...time, fromId: 0, toId: 0 })),
    'times',
  )
  return {
    // Ids are of one chunk each, so that an older version stands for no newer one.
    sql: `replay_chunks.id IN (
      SELECT id FROM (SELECT id, visitor, occurred_at, duration_ms FROM replay_chunks WHERE ${where}) AS chunks
      INNER JOIN ${known.sql} AS times ON visitor = time_visitor
      WHERE toUnixTimestamp64Milli(occurred_at) + duration_ms >= from_at AND toUnixTimestamp64Milli(occurred_at) < to_at)`,
    params: known.params,
  }
}
