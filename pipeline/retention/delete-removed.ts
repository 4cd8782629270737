/**
 * Deletes what stores still hold of workspaces that are no longer in Postgres. A number that Postgres never gave is of a newer
 * database than this one, as after the restore of an old copy: its rows stay.
 */
import type { ClickHouse } from '../../clickhouse/client.ts'
import { deleteRowsOfRemoved, readKnownWorkspaces } from '../../postgres/tables/workspaces/removed-workspaces.ts'
import type { JobContext } from '../queue/job.ts'

/** The others refer to their workspace, which can't be removed before them (test/integration/retention-places.test.ts). */
const clickhouseTables = [
  'events',
  'link_clicks',
  'bot_visits',
  'replay_chunks',
  'person_events',
  'sessions',
  'visitors',
  'credits',
  'cells',
  'search_days',
  'import_turns',
] as const

/** A mutation rewrites the parts that have some of the rows. */
const deadlineMs = 60 * 60_000

/** @returns rows of ClickHouse, versions that were replaced included */
export async function deleteRemoved({ pg, ch, signal }: Pick<JobContext, 'pg' | 'ch' | 'signal'>): Promise<number> {
  const known = await readKnownWorkspaces(pg)
  const { ids, deleted, last } = known
  // Without any workspace, only those are known to be gone that somebody had deleted.
  if (ids.length === 0 && deleted.length === 0) return 0
  const condition =
    ids.length === 0
      ? 'workspace_id IN {deleted:Array(UInt32)}'
      : 'workspace_id NOT IN {ids:Array(UInt32)} AND workspace_id BETWEEN 1 AND {last:UInt32}'
  let rows = 0
  for (const table of clickhouseTables) {
    signal.throwIfAborted()
    rows += await deleteWorkspacesWhere(ch, table, condition, { ids, deleted, last })
  }
  await deleteRowsOfRemoved(pg, known)
  return rows
}

export async function deleteClickHouseRowsOf(
  ch: Pick<ClickHouse, 'query' | 'command'>,
  workspaceId: number,
  signal: AbortSignal,
): Promise<void> {
  for (const table of clickhouseTables) {
    signal.throwIfAborted()
    await deleteWorkspacesWhere(ch, table, 'workspace_id = {workspace:UInt32}', { workspace: workspaceId })
  }
}

/** Deletes all rows of the workspaces of which any row meets the condition. */
async function deleteWorkspacesWhere(
  ch: Pick<ClickHouse, 'query' | 'command'>,
  table: (typeof clickhouseTables)[number],
  condition: string,
  params: Record<string, number | readonly number[]>,
): Promise<number> {
  const removed = await ch.query<{ id: number; rows: number }>(
    `SELECT workspace_id AS id, count() AS rows FROM ${table} WHERE ${condition} GROUP BY id`,
    params,
    { isLong: true, deadlineMs },
  )
  if (removed.length === 0) return 0
  await ch.command(
    `ALTER TABLE ${table} DELETE WHERE workspace_id IN {removed:Array(UInt32)} SETTINGS mutations_sync = 1`,
    { removed: removed.map(({ id }) => id) },
    { deadlineMs },
  )
  return removed.reduce((sum, { rows }) => sum + rows, 0)
}
