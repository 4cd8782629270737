/**
 * Makes the events of a seed: workspaces, a lease of segment numbers, then the portions. A few portions run at a time,
 * each by one INSERT … SELECT in ClickHouse. When all rows are there the lease counts as shipped to its end. A run that
 * fails leaves the lease open, so that its rows never have to be in figures.
 */
import type { SeedRows } from '../../clickhouse/seed/constants-sql.ts'
import { insertSeed, SeedIncomplete } from '../../clickhouse/seed/insert-seed.ts'
import { eventsByWorkspace, type SeedShape } from '../../clickhouse/seed/plan.ts'
import { advanceMark, leaseSegments } from '../../postgres/tables/operation/segment-leases.ts'
import { segmentLeaseSize } from '../../schemas/limits/log-limits.ts'
import { CommandFailed, type Invocation } from '../command.ts'
import { makeWorkspaces, type SeedWorkspace } from './make-workspaces.ts'

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

export async function seedEvents(options: SeedOptions): Promise<SeedResult> {
  const { installation, progress, signal, ...shape } = options
  const pg = installation.postgres()
  const ch = installation.clickhouse()
  // Asked before anything is made in Postgres.
  await ch.query('SELECT 1 FROM events LIMIT 0')
  const workspaces = await makeWorkspaces(pg, shape.workspaces, shape.days)
  const lease = await leaseSegments(pg, segmentLeaseSize, 'seed')
  const eventsOf = eventsByWorkspace(shape)
  const rows: SeedRows = { ...shape, workspaceIds: workspaces.map((made) => made.workspace_id), eventsOf, lease }

  const startedAt = performance.now()
  const secondsSince = () => (performance.now() - startedAt) / 1000
  const through = await insertSeed(ch, rows, {
    signal,
    inserted: (done, all) => progress.running(`${done} of ${all} inserts, ${secondsSince().toFixed(0)} s`),
  }).catch((error: unknown) => {
    throw error instanceof SeedIncomplete ? new CommandFailed(error.message) : error
  })
  const seconds = secondsSince()
  await advanceMark(pg, lease, through)
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
