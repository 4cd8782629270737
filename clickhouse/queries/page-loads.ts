/** Recorded loads of a page, for click maps: which there are, and their events. The newest version of a chunk counts (FINAL). */
import { replaySessionMsMax } from '../../schemas/limits/replay-limits.ts'
import { moment } from '../rollups/event-sql.ts'
import type { Reader } from './reader.ts'

export interface PageLoadsRequest {
  readonly workspaceId: number
  /** Loads of replays that began from `start` to just before `end`, as the list of replays has them. */
  readonly start: number
  readonly end: number
  readonly path: string
  readonly limit: number
  readonly chunksMax: number
  /** Bytes that a chunk counts as, at least, and those of all loads: none is listed behind more chunks than fit. */
  readonly chunkBytesMin: number
  readonly bytesMax: number
}

export interface PageLoad {
  readonly session: number
  /** Decimal text. */
  readonly visitor: string
  readonly startedAt: number
  /** From the load's first one to the last one of the path. */
  readonly chunks: readonly PageLoadChunk[]
  /** It has more chunks than are listed. */
  readonly isCut: boolean
}

export interface PageLoadChunk {
  readonly id: number
  /** As JSON or as it was sent, whichever is more, and `chunkBytesMin` at least: a sender can pack little into much. */
  readonly bytes: number
  readonly isOfPath: boolean
}

interface LoadRow extends Omit<PageLoad, 'chunks' | 'isCut'> {
  readonly chunks: readonly (readonly [sequence: number, id: number, bytes: number, isOfPath: number])[]
  readonly chunkCount: number
}

const startedAt = 'min(toUnixTimestamp64Milli(occurred_at))'

/** The newest first. */
export async function readPageLoads(ch: Reader, request: PageLoadsRequest): Promise<PageLoad[]> {
  const { workspaceId, start, end, path, limit, chunksMax, chunkBytesMin, bytesMax } = request
  const where = `workspace_id = {workspace:UInt32} AND occurred_at >= ${moment('from')} AND occurred_at < ${moment('to')}`
  const rows = await ch.query<LoadRow>(
    `SELECT session, visitor, startedAt, chunkCount, chunks FROM (
     SELECT session, visitor, startedAt, page_id, length(upToIt) AS chunkCount, arraySlice(upToIt, 1, {chunks:UInt32}) AS chunks,
       sum(length(chunks)) OVER (ORDER BY startedAt DESC, session DESC, page_id
         ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS chunksBefore FROM (
       SELECT session, page_id, toString(argMax(visitor, (replay_chunks.occurred_at, replay_chunks.id))) AS visitor,
         ${startedAt} AS startedAt, maxIf(sequence, path = {path:String}) AS lastOfIt,
         arrayFilter(chunk -> chunk.1 <= lastOfIt,
           arraySort(groupArray((sequence, id, greatest(json_bytes, bytes, {least:UInt32}), path = {path:String})))) AS upToIt
       FROM replay_chunks FINAL
       WHERE ${where} AND session IN (
         SELECT session FROM replay_chunks FINAL WHERE ${where} GROUP BY session
         HAVING ${startedAt} >= {start:Int64} AND ${startedAt} < {end:Int64} AND countIf(path = {path:String}) > 0)
       GROUP BY session, page_id HAVING countIf(path = {path:String}) > 0
       ORDER BY startedAt DESC, session DESC, page_id LIMIT {limit:UInt32}))
     WHERE chunksBefore <= {chunksInAll:UInt32}
     ORDER BY startedAt DESC, session DESC, page_id`,
    {
      workspace: workspaceId,
      start,
      end,
      path,
      limit,
      chunks: chunksMax,
      least: chunkBytesMin,
      chunksInAll: Math.floor(bytesMax / chunkBytesMin),
      // Only whole sessions are counted: their other chunks lie around the span.
      from: Math.max(0, start - replaySessionMsMax),
      to: end + replaySessionMsMax,
    },
  )
  return rows.map(({ chunks, chunkCount, ...load }) => ({
    ...load,
    chunks: chunks.map(([, id, bytes, isOfPath]) => ({ id, bytes, isOfPath: isOfPath === 1 })),
    isCut: chunkCount > chunks.length,
  }))
}
