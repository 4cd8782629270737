/**
 * Removes an erased person's replays: each session with a part in the person's times, whole. On a shared browser a session
 * may show two people; then neither's is kept.
 */

import type { BoundSql } from '../../clickhouse/bound-sql.ts'
import type { ClickHouse } from '../../clickhouse/client.ts'
import { isOfTimes } from '../../clickhouse/queries/replays.ts'
import type { Erasure } from '../../postgres/tables/people/erasures.ts'
import { inPortions } from '../../runtime/lists.ts'

/** Sessions of one mutation. */
const sessionsMax = 5_000
const deadlineMs = 60 * 60_000

export interface ErasedReplays {
  /** Selects the sessions in which the person has events. */
  readonly ofEvents?: BoundSql
  /** False: mutations are begun only. */
  readonly waits?: boolean
}

/** @returns how many sessions they were */
export async function eraseReplays(
  ch: Pick<ClickHouse, 'query' | 'command'>,
  erasure: Erasure,
  { ofEvents, waits = true }: ErasedReplays = {},
): Promise<number> {
  const { workspaceId, browsers, requestedAt, aheadAfter } = erasure
  const isEarlier = `(received_at <= fromUnixTimestamp64Milli({requested_at:Int64}, 'UTC')
    OR received_at > fromUnixTimestamp64Milli({ahead_after:Int64}, 'UTC'))`
  const ofTimes = isOfTimes(browsers, `workspace_id = {workspace:UInt32} AND ${isEarlier}`)
  const isTheirs = [ofTimes.sql, ...(ofEvents === undefined ? [] : [`session IN (${ofEvents.sql})`])].join(' OR ')
  const found = await ch.query<{ session: number }>(
    `SELECT DISTINCT session FROM replay_chunks
     WHERE workspace_id = {workspace:UInt32} AND ${isEarlier} AND (${isTheirs})`,
    {
      ...ofEvents?.params,
      ...ofTimes.params,
      workspace: workspaceId,
      requested_at: requestedAt,
      ahead_after: aheadAfter,
    },
    { isLong: true, deadlineMs },
  )
  for (const some of inPortions(found, sessionsMax)) {
    await ch.command(
      `ALTER TABLE replay_chunks DELETE WHERE workspace_id = {workspace:UInt32} AND ${isEarlier}
         AND session IN {sessions:Array(UInt64)} SETTINGS mutations_sync = ${waits ? 1 : 0}`,
      {
        workspace: workspaceId,
        requested_at: requestedAt,
        ahead_after: aheadAfter,
        sessions: some.map(({ session }) => session),
      },
      { deadlineMs },
    )
  }
  return found.length
}
