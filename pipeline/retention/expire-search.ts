/**
 * Deletes days of search terms past their retention, and those of sites that are no longer connected. A number that Postgres never
 * gave is of a newer database than this one: its rows stay.
 */
import { deleteWhere } from '../../clickhouse/delete-where.ts'
import { readKnownSites } from '../../postgres/tables/figures/search-sites.ts'
import { inPortions } from '../../runtime/lists.ts'
import { dayMs } from '../../schemas/time/time-zone.ts'
import type { JobContext } from '../queue/job.ts'

/** Their ids stand in its text. */
const workspacesPerMutation = 5_000

/** @returns the number of rows, replaced ones included */
export async function expireSearch(
  { pg, ch, signal }: Pick<JobContext, 'pg' | 'ch' | 'signal'>,
  expiring: readonly { readonly workspaceId: number; readonly before: number }[],
): Promise<number> {
  const { ids, last } = await pg.transaction(readKnownSites)
  const gone = { sql: 'site NOT IN {ids:Array(UInt32)} AND site <= {last:UInt32}', params: { ids, last } }
  let rows = await deleteWhere(ch, 'search_days', gone)
  for (const some of inPortions(expiring, workspacesPerMutation)) {
    signal.throwIfAborted()
    // A workspace may read from a midnight of its own on, which is never of an earlier date than this one.
    const days = some.map(({ before }) => Math.floor(before / dayMs))
    const workspaces = some.map(({ workspaceId }) => workspaceId)
    rows += await deleteWhere(ch, 'search_days', {
      sql: `workspace_id IN {workspaces:Array(UInt32)} AND day < {latest:UInt16}
       AND day < transform(workspace_id, {workspaces:Array(UInt32)}, {days:Array(UInt16)}, toUInt16(0))`,
      params: { workspaces, days, latest: Math.max(...days) },
    })
  }
  return rows
}
