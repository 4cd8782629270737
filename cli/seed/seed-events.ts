/**
 * Makes the events of a seed: workspaces, a lease of segment numbers, then the portions, a few at a time, each by one
 * INSERT … SELECT in ClickHouse. When all rows are there the lease counts as shipped to its end; a run that fails leaves
 * it open, so that no row of it is ever taken for one that must be in figures.
 */
import type { ClickHouse } from '../../clickhouse/client.ts'
import { advanceMark, leaseSegments } from '../../postgres/tables/segment-leases.ts'
import { clickhouseInsertDeadlineMs, segmentLeaseSize, segmentRowsMax } from '../../schemas/limits.ts'
import { CommandFailed, type Invocation } from '../command.ts'
import type { SeedRows } from './constants-sql.ts'
import { makeWorkspaces, type SeedWorkspace } from './make-workspaces.ts'
import { eventsByWorkspace, type Portion, planPortions, type SeedShape } from './plan.ts'
import { makeStatement } from './rows-sql.ts'

export interface SeedOptions extends SeedShape, Pick<Invocation, 'installation' | 'progress' | 'signal'> {
  readonly seed: number
  /** Else only newer events have one. */
  readonly hasAllClientEventIds: boolean
}

export interface SeedResult {
  readonly events: number
  readonly days: number
  readonly seed: number
  readonly until: string
  readonly seconds: number
  readonly rows_per_second: number
  readonly workspaces: readonly (SeedWorkspace & { readonly events: number })[]
}

/** An insert works on one core: as many as a small machine has. */
const insertsAtOnce = 2

export const insertSettings = {
  // One thread, so that a repeat meets the rows in the same order.
  max_threads: 1,
  max_insert_threads: 1,
  // Twice as fast: nothing here is dear enough to be worth leaving out for some rows.
  short_circuit_function_evaluation: 'disable',
  max_block_size: 16_384,
  // The rows are in order of receipt by a subquery's ORDER BY, which nothing outside it asks for.
  query_plan_remove_redundant_sorting: 0,
  // Every insert is of ids of its own.
  insert_deduplicate: 0,
  // The statement has the vocabulary in it.
  max_query_size: 4_000_000,
  // One part for each day of an insert.
  min_insert_block_size_rows: 2_000_000,
  min_insert_block_size_bytes: 1_000_000_000,
}

export async function seedEvents(options: SeedOptions): Promise<SeedResult> {
  const { installation, progress, signal, ...shape } = options
  const pg = installation.postgres()
  const ch = installation.clickhouse()
  // Asked before anything is made in Postgres.
  await ch.query('SELECT 1 FROM events LIMIT 0')
  const workspaces = await makeWorkspaces(pg, shape.workspaces, shape.days)
  const lease = await leaseSegments(pg, segmentLeaseSize)
  const eventsOf = eventsByWorkspace(shape)
  const rows: SeedRows = { ...shape, workspaceIds: workspaces.map((made) => made.workspace_id), eventsOf, lease }

  const startedAt = performance.now()
  const secondsSince = () => (performance.now() - startedAt) / 1000
  const portions = planPortions(shape)
  let done = 0
  await runAll(portions, signal, async (portion) => {
    await insertPortion(ch, rows, portion)
    done++
    progress.running(`${done} of ${portions.length} inserts, ${secondsSince().toFixed(0)} s`)
  })
  const seconds = secondsSince()
  const end = (lease + segmentLeaseSize) * segmentRowsMax
  await requireAll(ch, lease * segmentRowsMax, end, shape.events)
  await advanceMark(pg, lease, end - 1)
  return {
    events: shape.events,
    days: shape.days,
    seed: shape.seed,
    until: new Date(shape.until).toISOString(),
    seconds: Math.round(seconds * 100) / 100,
    rows_per_second: Math.round(shape.events / seconds),
    workspaces: workspaces.map((made, at) => ({ ...made, events: eventsOf[at]! })),
  }
}

/** A few at a time. After a failure nothing more is begun. */
async function runAll(
  portions: readonly Portion[],
  signal: AbortSignal,
  run: (portion: Portion) => Promise<void>,
): Promise<void> {
  let next = 0
  const work = async () => {
    for (;;) {
      if (signal.aborted) throw new CommandFailed('interrupted: the workspaces made have a part of their events')
      const portion = portions[next++]
      if (portion === undefined) return
      await run(portion).catch((error: unknown) => {
        next = portions.length
        throw error
      })
    }
  }
  const ended = await Promise.allSettled(Array.from({ length: insertsAtOnce }, work))
  const failed = ended.find((each) => each.status === 'rejected')
  if (failed) throw failed.reason
}

async function insertPortion(ch: ClickHouse, rows: SeedRows, portion: Portion): Promise<void> {
  await ch.command(
    makeStatement(rows, portion),
    {},
    { deadlineMs: clickhouseInsertDeadlineMs, settings: insertSettings },
  )
}

async function requireAll(ch: ClickHouse, firstId: number, endId: number, events: number): Promise<void> {
  const [row] = await ch.query<{ stored: number }>(
    'SELECT count() AS stored FROM events WHERE id >= {first:UInt64} AND id < {end:UInt64}',
    { first: firstId, end: endId },
    { deadlineMs: clickhouseInsertDeadlineMs },
  )
  if (row!.stored !== events) throw new CommandFailed(`${row!.stored} events are there in place of ${events}`)
}
