/** Aggregates held against the raw rows, in tests that don't care how they came about. */
import { liveRowsIn } from '../../clickhouse/aggregates/live-rows.ts'
import type { ClickHouse } from '../../clickhouse/client.ts'
import { aggregateNames } from '../../pipeline/aggregate/attempt.ts'
import { checkDays, type Difference } from '../../pipeline/aggregate/check.ts'
import { deleteUncounted } from '../../pipeline/aggregate/garbage.ts'
import { liveRowsOf } from '../../pipeline/aggregate/live.ts'
import { mergeDue } from '../../pipeline/aggregate/merge.ts'
import { countPending } from '../../pipeline/aggregate/pending.ts'
import { type Aggregating, aggregate } from '../../pipeline/aggregate/run.ts'
import type { Postgres } from '../../postgres/client.ts'
import { readSnapshot } from '../../postgres/tables/aggregate-snapshot.ts'
import { sleep } from '../../runtime/retry.ts'
import type { AggregateSnapshot } from '../../schemas/aggregate-snapshot.ts'
import { segmentRowsMax } from '../../schemas/limits.ts'

export interface AggregatedStores {
  readonly pg: Postgres
  readonly ch: ClickHouse
}

export interface AggregatesVerdict {
  /** Hours and days of which a table says something else than the raw rows. */
  readonly differences: readonly Difference[]
  /** Distinct ids of `events`, less the events that the aggregates have. */
  readonly uncounted: number
  /** Rows of `events`, less their distinct ids. */
  readonly doubled: number
}

export const exactAggregates: AggregatesVerdict = { differences: [], uncounted: 0, doubled: 0 }

const aggregatedWithinMs = 60_000
/** What doesn't count is deleted without waiting: for readers of older lists, for attempts, for the hour of closed days. */
export const atOnce = { leftMs: 0, unlistedMs: 0, closedEveryMs: 0 }
const sweptWithinMs = 120_000
const dayHours = 24

/** What the aggregator is given, where nothing stops it. */
export function workOn({ pg, ch }: AggregatedStores): Aggregating {
  return { pg, ch, beforeEach: async () => {} }
}

/** Lets a run of the aggregator take up the events of a segment, as if it had been shipped whole and were the newest. */
export async function aggregateSegment({ pg, ch }: AggregatedStores, segment: number): Promise<void> {
  await pg.query('INSERT INTO segment_leases_taken (first_segment, end_segment, shipped_through) VALUES ($1, $2, $3)', [
    segment,
    segment + 1,
    (segment + 1) * segmentRowsMax - 1,
  ])
  await aggregate(workOn({ pg, ch }))
}

/** Aggregates in this process, until the aggregates have every row that there is. */
export async function aggregateAll(stores: AggregatedStores): Promise<void> {
  await untilAggregated(stores, async () => {
    const { isAllTaken } = await aggregate(workOn(stores))
    await mergeDue(workOn(stores), isAllTaken)
  })
}

/** Merges until nothing is due: a call does what it comes to within its time. */
export async function mergeAll(work: Aggregating): Promise<void> {
  while (await mergeDue(work, true));
}

/** Waits until the aggregates have every row that there is and nothing is to be computed anew. */
export async function untilAggregated(
  { pg, ch }: AggregatedStores,
  meanwhile: () => Promise<unknown> = async () => {},
): Promise<void> {
  const deadline = Date.now() + aggregatedWithinMs
  for (;;) {
    await meanwhile()
    const [left] = await pg.query<{ repairs: number }>('SELECT count(*) AS repairs FROM aggregate_repairs')
    const pending = await countPending(ch, await readSnapshot(pg))
    if (left!.repairs === 0 && pending.rows === 0) return
    if (Date.now() > deadline)
      throw new Error(`${pending.rows} rows and ${left!.repairs} repairs wait to be aggregated`)
    await sleep(200)
  }
}

/** As if the time had run out for which an aggregator that was killed has the work to itself. */
export async function endClaim({ pg }: AggregatedStores): Promise<void> {
  await pg.query(`UPDATE aggregate_revision SET claimed_until = '-infinity'`)
}

/** Deletes what doesn't count, however new it is, and waits until nothing of it is left. */
export async function sweepAll(stores: AggregatedStores): Promise<void> {
  const deadline = Date.now() + sweptWithinMs
  for (;;) {
    const left = await deleteUncounted(workOn(stores), atOnce)
    if (left === 0) return
    if (Date.now() > deadline) throw new Error(`${left} generations that don't count have rows`)
    await sleep(100)
  }
}

/** Compares all days of all tables. To be called when nothing comes in any more. */
export async function judgeAggregates({ pg, ch }: AggregatedStores): Promise<AggregatesVerdict> {
  const snapshot = await readSnapshot(pg)
  const [raw] = await ch.query<{ rows: number; ids: number; first: number; last: number }>(
    `SELECT count() AS rows, uniqExact(id) AS ids,
       intDiv(toUnixTimestamp(min(occurred_at)), 86400) AS first, intDiv(toUnixTimestamp(max(occurred_at)), 86400) AS last
     FROM events`,
  )
  const days = snapshot.generations.map(({ day }) => day)
  const first = Math.min(raw!.first, ...days)
  const last = Math.max(raw!.last, ...days)
  return {
    differences: await checkDays(ch, snapshot, { first, last }),
    uncounted: raw!.ids - (await eventsIn(ch, snapshot, first, last)),
    doubled: raw!.rows - raw!.ids,
  }
}

async function eventsIn(ch: ClickHouse, snapshot: AggregateSnapshot, first: number, last: number): Promise<number> {
  const live = liveRowsIn(liveRowsOf(snapshot, first * dayHours, (last + 1) * dayHours))
  const [counted] = await ch.query<{ events: number }>(
    `SELECT sum(events) AS events FROM agg_traffic WHERE is_day = 0 AND ${live.sql}`,
    live.params,
  )
  return counted!.events
}

/** By table, the generations that have rows and are on no list. */
export async function findUncounted({ pg, ch }: AggregatedStores): Promise<Record<string, number[]>> {
  const live = (await listedGenerations(pg)).map(({ generation }) => generation)
  const found: Record<string, number[]> = {}
  for (const name of aggregateNames) {
    const rows = await ch.query<{ generation: number }>(
      `SELECT DISTINCT generation FROM ${name} WHERE generation NOT IN {live:Array(UInt64)}`,
      { live },
    )
    if (rows.length > 0) found[name] = rows.map(({ generation }) => generation)
  }
  return found
}

/** The generations that count, those of blocks of days among them. */
export async function listedGenerations(pg: Postgres): Promise<{ readonly generation: number }[]> {
  const { generations, blocks } = await readSnapshot(pg)
  return [...generations, ...blocks]
}
