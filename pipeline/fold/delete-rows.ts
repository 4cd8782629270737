/** Deletes derived rows that nobody reads: rows of abandoned builds, and of days past their retention. */
import type { ClickHouse } from '../../clickhouse/client.ts'
import { deleteWhere } from '../../clickhouse/delete-where.ts'
import type { Postgres } from '../../postgres/client.ts'
import { listOpenBuilds } from '../../postgres/tables/figures/figure-builds.ts'
import { inPortions } from '../../runtime/lists.ts'
import { localDayAt } from '../../schemas/time/time-zone.ts'

/** Tables of derived rows. */
export const derivedTables = ['sessions', 'visitors', 'credits', 'cells'] as const

export interface DeletedRows {
  readonly of?: readonly (typeof derivedTables)[number][]
  /** False: mutations are begun only. */
  readonly waits?: boolean
}

/** @returns how many rows there were, versions that were replaced included */
export async function deleteRows(
  ch: Pick<ClickHouse, 'query' | 'command'>,
  condition: string,
  params: Record<string, unknown>,
  { of = derivedTables, waits = true }: DeletedRows = {},
): Promise<number> {
  let rows = 0
  const sql = `workspace_id != 0 AND ${condition}`
  for (const table of of) rows += await deleteWhere(ch, table, { sql, params }, waits)
  return rows
}

/** Builds of one mutation: they stand in its text. */
const buildsMax = 5_000

/**
 * Deletes the local days before each workspace's time. One mutation deletes for many workspaces, because each looks at
 * all parts of its table.
 * @returns the number of rows
 */
export async function deleteExpiredDays(
  { pg, ch, signal }: { pg: Postgres; ch: ClickHouse; signal: AbortSignal },
  expiring: readonly { readonly workspaceId: number; readonly before: number }[],
): Promise<number> {
  const beforeOf = new Map(expiring.map(({ workspaceId, before }) => [workspaceId, before]))
  const due = (await listOpenBuilds(pg)).flatMap(({ build, workspaceId, timezone }) => {
    const before = beforeOf.get(workspaceId)
    return before === undefined ? [] : { build, day: localDayAt(before, timezone) }
  })
  let rows = 0
  for (const some of inPortions(due, buildsMax)) {
    signal.throwIfAborted()
    const [builds, days] = [some.map(({ build }) => build), some.map(({ day }) => day)]
    rows += await deleteRows(
      ch,
      `build IN {builds:Array(UInt32)} AND day < {latest:UInt16}
       AND day < transform(build, {builds:Array(UInt32)}, {days:Array(UInt16)}, toUInt16(0))`,
      { builds, days, latest: Math.max(...days) },
    )
  }
  return rows
}
