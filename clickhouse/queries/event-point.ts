/** The event after which a list of events, newest first, goes on: it has those that occurred before that event. */
import { moment } from '../rollups/event-sql.ts'
import { columnEnd, type Reader } from './reader.ts'

export interface EventPoint {
  readonly id: number
  /** Milliseconds since 1970. */
  readonly at: number
}

export interface NewestEvents {
  /** Milliseconds since 1970. */
  readonly since: number
  /** Only events before it. */
  readonly before: EventPoint
  readonly limit: number
}

/** All events are before it. */
const afterAll: EventPoint = { id: 0, at: columnEnd }

/** @returns undefined where the workspace has no such event; without an id, the point that all events are before */
export async function findEventPoint(
  ch: Reader,
  workspaceId: number,
  id: number | undefined,
): Promise<EventPoint | undefined> {
  if (id === undefined) return afterAll
  const [found] = await ch.query<EventPoint>(
    `SELECT id, toUnixTimestamp64Milli(occurred_at) AS at FROM events
     WHERE workspace_id = {workspace:UInt32} AND id = {id:UInt64} LIMIT 1`,
    { workspace: workspaceId, id },
  )
  return found
}

/** SQL condition, with the parameters of `pointParams`. */
export function isBeforePoint(time = 'occurred_at'): string {
  return `(${time}, id) < (${moment('before_at')}, {before_id:UInt64})`
}

export function pointParams({ id, at }: EventPoint): { readonly before_id: number; readonly before_at: number } {
  return { before_id: id, before_at: at }
}
