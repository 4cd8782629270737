/**
 * The ledger of the aggregates in ClickHouse: what they are made of, and up to where. Every commit is one transaction that
 * counts the revision up from the one that was read, so that of two that worked at once only the first has done anything.
 */
import type { AggregateReset, IdRange, LiveBlock, LiveGeneration } from '../../schemas/aggregate-snapshot.ts'
import { aggregateRepairRowsMax, segmentRowsMax } from '../../schemas/limits.ts'
import type { Postgres, Queryable } from '../client.ts'
import { milliseconds } from '../clock.ts'
import type { HourKey } from './aggregate-repairs.ts'

/** Of a lease of segment numbers, the id up to which something is done. */
export interface LeaseMark {
  readonly firstSegment: number
  readonly endSegment: number
  readonly through: number
}

export interface StoredGeneration extends LiveGeneration {
  /** 0: written by a delta; higher ones by merging. */
  readonly level: number
  /** Milliseconds since 1970. */
  readonly writtenAt: number
}

export type NewGeneration = Omit<StoredGeneration, 'writtenAt'>

/** An hour of a workspace whose raw rows were changed behind the marks. */
export interface Repair extends HourKey {
  /** As often as it was told of. */
  readonly ids: readonly number[]
}

export interface AggregationState {
  readonly revision: number
  /** When it was committed; milliseconds since 1970, as all times here, by the clock of Postgres. */
  readonly committedAt: number
  readonly now: number
  readonly aggregated: readonly LeaseMark[]
  readonly shipped: readonly LeaseMark[]
  readonly generations: readonly StoredGeneration[]
  readonly blocks: readonly LiveBlock[]
  readonly resets: readonly AggregateReset[]
  /** The oldest ones. */
  readonly repairs: readonly Repair[]
}

const marks = (table: string, through: string) =>
  `(SELECT coalesce(json_agg(json_build_object('firstSegment', first_segment, 'endSegment', end_segment, 'through', ${through})), '[]')
    FROM ${table})`
const resets = `(SELECT coalesce(json_agg(json_build_object('workspaceId', workspace_id, 'hour', hour, 'generation', generation)), '[]')
  FROM aggregate_resets)`

/** All that the aggregator goes by. One statement, so that it is of one moment. */
export async function readAggregationState(q: Queryable, repairsMax: number): Promise<AggregationState> {
  const [row] = await q.query<AggregationState>(
    `SELECT revision, ${milliseconds('committed_at')} AS "committedAt", ${milliseconds('now()')} AS now,
       ${marks('aggregate_marks', 'through')} AS aggregated,
       ${marks('segment_leases_taken', 'shipped_through')} AS shipped, ${resets} AS resets,
       (SELECT coalesce(json_agg(json_build_object('generation', generation, 'day', day, 'isWhole', is_whole, 'lastAt', last_at,
          'newest', newest, 'parts', parts, 'level', level, 'writtenAt', ${milliseconds('written_at')}) ORDER BY generation), '[]')
        FROM aggregate_generations_live) AS generations,
       (SELECT coalesce(json_agg(json_build_object('generation', generation, 'firstDay', first_day, 'days', days)), '[]')
        FROM aggregate_blocks_live) AS blocks,
       (SELECT coalesce(json_agg(json_build_object('ids', ids, 'workspaceId', workspace_id, 'hour', hour)), '[]')
        FROM (SELECT workspace_id, hour, array_agg(id) AS ids
          FROM (SELECT * FROM aggregate_repairs ORDER BY id LIMIT $2) AS oldest
          GROUP BY workspace_id, hour ORDER BY min(id) LIMIT $1) AS hours) AS repairs
     FROM aggregate_revision`,
    [repairsMax, repairsMax === 0 ? 0 : aggregateRepairRowsMax],
  )
  return row!
}

/** Whether there are rows that wait to be aggregated, and what was committed last. */
export async function readProgress(q: Queryable): Promise<{ revision: number; isBehind: boolean }> {
  const [row] = await q.query<{ revision: number; isBehind: boolean }>(
    `SELECT revision, EXISTS (SELECT FROM aggregate_repairs) OR EXISTS (
         SELECT FROM segment_leases_taken LEFT JOIN aggregate_marks USING (first_segment)
         WHERE shipped_through > coalesce(through, first_segment * $1::bigint - 1)) AS "isBehind"
     FROM aggregate_revision`,
    [segmentRowsMax],
  )
  return row!
}

/** The ids of marks' leases up to their marks: sorted, neighbours as one. */
export function rangesOf(leases: readonly LeaseMark[]): IdRange[] {
  const ranges: { from: number; through: number }[] = []
  for (const { firstSegment, through } of [...leases].sort((a, b) => a.firstSegment - b.firstSegment)) {
    const from = firstSegment * segmentRowsMax
    const last = ranges.at(-1)
    if (through < from) continue
    if (last !== undefined && last.through + 1 === from) last.through = through
    else ranges.push({ from, through })
  }
  return ranges
}

/** A number that no other attempt has or will have: greater than those of all attempts that were committed before. */
export async function takeAttempt(q: Queryable): Promise<number> {
  const [row] = await q.query<{ attempt: number }>(`SELECT nextval('aggregate_attempts') AS attempt`)
  return row!.attempt
}

/** Makes sure that later attempts have larger numbers than `attempt`: a Postgres restored from a backup counts them again. */
export async function raiseAttempts(q: Queryable, attempt: number): Promise<void> {
  await q.query(`SELECT setval('aggregate_attempts', $1) FROM aggregate_attempts WHERE last_value < $1`, [attempt])
}

export interface LedgerChange {
  /** The revision that the change was worked out from. */
  readonly revision: number
  readonly marks?: readonly LeaseMark[]
  readonly added?: readonly NewGeneration[]
  /** Generations of days, or blocks. */
  readonly removed?: readonly number[]
  /** Generations that never were on a list, and never will be: whoever still works on one finds another revision. */
  readonly abandoned?: readonly number[]
  readonly block?: LiveBlock
  readonly resets?: readonly AggregateReset[]
  readonly repairIds?: readonly number[]
}

/**
 * All of it or nothing.
 * @returns false when another change was committed since the revision was read
 */
export function commitToLedger(pg: Postgres, change: LedgerChange): Promise<boolean> {
  const { revision, marks: raised = [], added = [], removed = [], abandoned = [], block } = change
  const { resets: made = [], repairIds = [] } = change
  return pg.transaction(async (tx) => {
    const [counted] = await tx.query(
      `UPDATE aggregate_revision SET revision = revision + 1, committed_at = now() WHERE revision = $1 RETURNING revision`,
      [revision],
    )
    if (counted === undefined) return false
    await tx.query(
      `INSERT INTO aggregate_marks (first_segment, end_segment, through)
       SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[])
       ON CONFLICT (first_segment) DO UPDATE SET through = EXCLUDED.through`,
      [
        raised.map((mark) => mark.firstSegment),
        raised.map((mark) => mark.endSegment),
        raised.map((mark) => mark.through),
      ],
    )
    await leaveBlocks(tx, added, removed)
    await tx.query(
      `WITH gone AS (DELETE FROM aggregate_generations_live WHERE generation = ANY ($1::bigint[]) RETURNING generation)
       INSERT INTO aggregate_generations_left (generation) SELECT generation FROM gone UNION SELECT unnest($2::bigint[])`,
      [removed, abandoned],
    )
    await tx.query(
      `INSERT INTO aggregate_generations_live (generation, day, level, is_whole, last_at, newest, parts)
       SELECT * FROM unnest($1::bigint[], $2::int[], $3::smallint[], $4::boolean[], $5::bigint[], $6::bigint[], $7::int[])`,
      [
        added.map(({ generation }) => generation),
        added.map(({ day }) => day),
        added.map(({ level }) => level),
        added.map(({ isWhole }) => isWhole),
        added.map(({ lastAt }) => lastAt),
        added.map(({ newest }) => newest),
        added.map(({ parts }) => parts),
      ],
    )
    if (block !== undefined) {
      await tx.query(`INSERT INTO aggregate_blocks_live (generation, first_day, days) VALUES ($1, $2, $3)`, [
        block.generation,
        block.firstDay,
        block.days,
      ])
    }
    await tx.query(
      `INSERT INTO aggregate_resets (workspace_id, hour, generation)
       SELECT * FROM unnest($1::int[], $2::bigint[], $3::bigint[])
       ON CONFLICT (workspace_id, hour) DO UPDATE SET generation = EXCLUDED.generation`,
      [
        made.map(({ workspaceId }) => workspaceId),
        made.map(({ hour }) => hour),
        made.map(({ generation }) => generation),
      ],
    )
    // A reset has nothing to say any more once no generation of its day is older than it.
    await tx.query(
      `DELETE FROM aggregate_resets AS reset WHERE NOT EXISTS (
         SELECT FROM aggregate_generations_live AS live WHERE live.day = reset.hour / 24 AND live.generation < reset.generation)`,
    )
    await tx.query('DELETE FROM aggregate_repairs WHERE id = ANY ($1::bigint[])', [repairIds])
    await tx.query(`SELECT pg_notify('aggregates_changed', $1)`, [String(revision + 1)])
    return true
  })
}

/** Takes blocks off the list: the removed ones, and all that have a day whose whole generation is another one from now on. */
async function leaveBlocks(tx: Queryable, added: readonly NewGeneration[], removed: readonly number[]): Promise<void> {
  await tx.query(
    `WITH changed AS (
       SELECT day FROM aggregate_generations_live WHERE generation = ANY ($1::bigint[]) AND is_whole
       UNION SELECT unnest($2::int[])
     ), gone AS (
       DELETE FROM aggregate_blocks_live WHERE EXISTS (
         SELECT FROM changed WHERE day >= first_day AND day < first_day + days) OR generation = ANY ($1::bigint[])
       RETURNING generation
     )
     INSERT INTO aggregate_generations_left (generation) SELECT generation FROM gone`,
    [removed, added.filter(({ isWhole }) => isWhole).map(({ day }) => day)],
  )
}

/**
 * Claims the work for `ms`; again by the same name prolongs it.
 * @returns false while another has it
 */
export async function claimAggregation(q: Queryable, by: string, ms: number): Promise<boolean> {
  const rows = await q.query(
    `UPDATE aggregate_revision SET claimed_by = $1, claimed_until = now() + $2::bigint * interval '1 millisecond'
     WHERE claimed_by = $1 OR claimed_until < now() RETURNING revision`,
    [by, ms],
  )
  return rows.length > 0
}

export async function releaseAggregation(q: Queryable, by: string): Promise<void> {
  await q.query(`UPDATE aggregate_revision SET claimed_until = '-infinity' WHERE claimed_by = $1`, [by])
}

/** Generations that left the list at least `forMs` ago, the oldest first. */
export async function listLeftGenerations(q: Queryable, forMs: number, max: number): Promise<number[]> {
  const rows = await q.query<{ generation: number }>(
    `SELECT generation FROM aggregate_generations_left
     WHERE left_at <= now() - $1::bigint * interval '1 millisecond' ORDER BY left_at LIMIT $2`,
    [forMs, max],
  )
  return rows.map(({ generation }) => generation)
}

/** Of generations, those that are neither on the list nor left it: nobody has ever counted them. */
export async function findUnlisted(q: Queryable, generations: readonly number[]): Promise<number[]> {
  const rows = await q.query<{ generation: number }>(
    `SELECT generation FROM unnest($1::bigint[]) AS generation
     WHERE NOT EXISTS (SELECT FROM aggregate_generations_live AS live WHERE live.generation = generation.generation)
       AND NOT EXISTS (SELECT FROM aggregate_blocks_live AS block WHERE block.generation = generation.generation)
       AND NOT EXISTS (SELECT FROM aggregate_generations_left AS gone WHERE gone.generation = generation.generation)`,
    [generations],
  )
  return rows.map(({ generation }) => generation)
}

/** To be called once their rows are deleted. */
export async function forgetGenerations(q: Queryable, generations: readonly number[]): Promise<void> {
  await q.query('DELETE FROM aggregate_generations_left WHERE generation = ANY ($1::bigint[])', [generations])
}
