/**
 * Deletes what stores still hold of workspaces that are no longer in Postgres. A number that Postgres never gave is of a newer
 * database than this one, as after the restore of an old copy: its rows stay.
 */
import type { ClickHouse } from '../../clickhouse/client.ts'
import { deleteRowsOfRemoved, readKnownWorkspaces } from '../../postgres/tables/removed-workspaces.ts'
import type { JobContext } from '../queue/job.ts'

/** The others refer to their workspace, which can't be removed before them (test/integration/retention-places.test.ts). */
const clickhouseTables = [
  ...(['events', 'link_clicks', 'bot_visits', 'person_events'] as const),
  ...(['sessions', 'visitors', 'credits', 'cells'] as const),
] as const

/** A mutation rewrites the parts that have some of the rows. */
const deadlineMs = 60 * 60_000

/** @returns rows of ClickHouse, versions that were replaced included */
export async function deleteRemoved({ pg, ch, signal }: Pick<JobContext, 'pg' | 'ch' | 'signal'>): Promise<number> {
  const known = await readKnownWorkspaces(pg)
  if (known.ids.length === 0) return 0
  let rows = 0
  for (const table of clickhouseTables) {
    signal.throwIfAborted()
    rows += await deleteOf(ch, table, known)
  }
  await deleteRowsOfRemoved(pg, known)
  return rows
}

async function deleteOf(
  ch: Pick<ClickHouse, 'query' | 'command'>,
  table: (typeof clickhouseTables)[number],
  { ids, last }: { readonly ids: readonly number[]; readonly last: number },
): Promise<number> {
  const removed = await ch.query<{ id: number; rows: number }>(
    `SELECT workspace_id AS id, count() AS rows FROM ${table}
     WHERE workspace_id NOT IN {ids:Array(UInt32)} AND workspace_id BETWEEN 1 AND {last:UInt32} GROUP BY id`,
    { ids, last },
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
