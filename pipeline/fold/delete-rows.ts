/** Deletes derived rows that no reader goes by: of builds that were left, and of days past their retention. */
import type { ClickHouse } from '../../clickhouse/client.ts'
import type { Postgres } from '../../postgres/client.ts'
import { listOpenBuilds } from '../../postgres/tables/figure-builds.ts'
import { localDayAt } from '../../schemas/time/time-zone.ts'
import type { ExpiryGroup } from '../retention/retention.ts'

const tables = ['sessions', 'visitors', 'credits', 'cells'] as const
/** A mutation rewrites the parts that have some of the rows. */
const deadlineMs = 60 * 60_000

/** @returns how many rows there were, versions that were replaced included */
export async function deleteRows(
  ch: Pick<ClickHouse, 'query' | 'command'>,
  condition: string,
  params: Record<string, unknown>,
  of: readonly (typeof tables)[number][] = tables,
): Promise<number> {
  let rows = 0
  for (const table of of) {
    const where = `workspace_id != 0 AND ${condition}`
    const [found] = await ch.query<{ rows: number }>(`SELECT count() AS rows FROM ${table} WHERE ${where}`, params, {
      deadlineMs,
    })
    if (found!.rows === 0) continue
    rows += found!.rows
    await ch.command(`ALTER TABLE ${table} DELETE WHERE ${where} SETTINGS mutations_sync = 1`, params, { deadlineMs })
  }
  return rows
}

/**
 * Deletes the local days that lie before each group's time.
 * @returns the number of rows
 */
export async function deleteExpiredDays(
  { pg, ch, signal }: { pg: Postgres; ch: ClickHouse; signal: AbortSignal },
  groups: readonly ExpiryGroup[],
): Promise<number> {
  const builds = await listOpenBuilds(pg)
  let rows = 0
  for (const { before, workspaceIds } of groups) {
    const ids = new Set(workspaceIds)
    const byDay = new Map<number, number[]>()
    for (const { build, workspaceId, timezone } of builds) {
      const day = localDayAt(before, timezone)
      if (ids.has(workspaceId)) byDay.set(day, [...(byDay.get(day) ?? []), build])
    }
    for (const [day, some] of byDay) {
      signal.throwIfAborted()
      rows += await deleteRows(ch, 'build IN {builds:Array(UInt32)} AND day < {day:UInt16}', { builds: some, day })
    }
  }
  return rows
}
