/** How many events a workspace has, and of which time. */
import type { IdRange } from '../../schemas/event/id-ranges.ts'
import { idsIn, isDatable } from '../rollups/event-sql.ts'
import type { Reader } from './reader.ts'

export interface EventSpan {
  readonly events: number
  /** Times of the first and the last one, milliseconds since 1970; both 0 without events. */
  readonly from: number
  readonly to: number
}

export async function readSpanOfEvents(ch: Reader, workspaceId: number): Promise<EventSpan> {
  const [row] = await ch.query<EventSpan>(
    `SELECT count() AS events, toUnixTimestamp64Milli(min(occurred_at)) AS \`from\`, toUnixTimestamp64Milli(max(occurred_at)) AS \`to\`
     FROM events WHERE workspace_id = {workspace:UInt32} AND ${isDatable}`,
    { workspace: workspaceId },
    { deadlineMs: 60_000 },
  )
  return row!
}

/** How many events have these ids. */
export async function countEvents(ch: Reader, ranges: readonly IdRange[]): Promise<number> {
  const { sql, params } = idsIn(ranges, 'ids')
  const [row] = await ch.query<{ events: number }>(`SELECT count() AS events FROM events WHERE ${sql}`, params)
  return row!.events
}
