/**
 * Takes out of the aggregates what is past its retention: days that are out for everybody leave the list; of a day that is
 * out for some workspaces, a generation without their hours takes the place of all its others. The rows are deleted with the
 * generations that left the list, minutes later. Idempotent.
 */
import type { ClickHouse } from '../../clickhouse/client.ts'
import type { Postgres } from '../../postgres/client.ts'
import { commitToLedger, readAggregationState } from '../../postgres/tables/aggregates.ts'
import { dayMs, hourMs } from '../../schemas/time-zone.ts'
import type { ExpiryGroup } from '../retention.ts'
import { heavyStatement } from './attempt.ts'
import { whileClaimed } from './claim.ts'
import { type KeptHours, keptHoursOf, mergeGenerations } from './merge.ts'
import { wholeMerge } from './merge-plan.ts'

export interface Expiring {
  readonly pg: Postgres
  readonly ch: ClickHouse
  readonly signal: AbortSignal
}

/**
 * @param groups the earliest first; with none nothing is known of anybody, and nothing is taken out
 * @returns hours of workspaces that were taken out of days that others still have
 */
export async function expireAggregates(context: Expiring, groups: readonly ExpiryGroup[]): Promise<number> {
  const [earliest] = groups
  if (earliest === undefined) return 0
  await dropDays(context, Math.floor(earliest.before / dayMs))
  const kept: KeptHours = new Map(
    groups.flatMap(({ before, workspaceIds }) => workspaceIds.map((id) => [id, Math.floor(before / hourMs)] as const)),
  )
  let hours = 0
  for (const { day, expired } of await findExpired(context, kept)) {
    await whileClaimed(context.pg, context.ch, context.signal, async (work) => {
      const state = await readAggregationState(work.pg, 0)
      const from = state.generations.filter((one) => one.day === day)
      if (from.length > 0 && !(await mergeGenerations(work, state, wholeMerge(day, from), kept))) {
        throw new Error('another process has changed the aggregates meanwhile')
      }
    })
    hours += expired
  }
  return hours
}

/** An attempt that is under way finds the list changed and begins anew: so only where there is something to drop. */
async function dropDays({ pg, signal }: Expiring, beforeDay: number): Promise<void> {
  for (;;) {
    signal.throwIfAborted()
    const { revision, generations } = await readAggregationState(pg, 0)
    const removed = generations.filter(({ day }) => day < beforeDay).map(({ generation }) => generation)
    if (removed.length === 0 || (await commitToLedger(pg, { revision, removed }))) return
  }
}

/** Every hour of a workspace that has anything at all has a row of traffic. */
async function findExpired({ pg, ch }: Expiring, kept: KeptHours): Promise<{ day: number; expired: number }[]> {
  const { generations } = await readAggregationState(pg, 0)
  const { sql, params } = keptHoursOf(kept)
  return ch.query<{ day: number; expired: number }>(
    `SELECT toUInt32(intDiv(hour, 24)) AS day, uniqExact(workspace_id, hour) AS expired FROM agg_traffic
     WHERE is_day = 0 AND generation IN {live:Array(UInt64)} AND NOT ${sql} GROUP BY day ORDER BY day`,
    { ...params, live: generations.map(({ generation }) => generation) },
    heavyStatement,
  )
}
