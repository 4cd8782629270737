/**
 * Deletes days of search terms past their retention, and those of sites that are no longer connected. A number that Postgres never
 * gave is of a newer database than this one: its rows stay.
 */
import { readKnownSites } from '../../postgres/tables/search-sites.ts'
import { dayMs } from '../../schemas/time/time-zone.ts'
import { inPortions } from '../fold/group-by.ts'
import type { JobContext } from '../queue/job.ts'

/** Their ids stand in its text. */
const workspacesPerMutation = 5_000
const deadlineMs = 60 * 60_000

/** @returns the number of rows, replaced ones included */
export async function expireSearch(
  { pg, ch, signal }: Pick<JobContext, 'pg' | 'ch' | 'signal'>,
  expiring: readonly { readonly workspaceId: number; readonly before: number }[],
): Promise<number> {
  const { ids, last } = await pg.transaction(readKnownSites)
  let rows = await deleteWhere(ch, 'site NOT IN {ids:Array(UInt32)} AND site <= {last:UInt32}', { ids, last })
  for (const some of inPortions(expiring, workspacesPerMutation)) {
    signal.throwIfAborted()
    // A workspace may read from a midnight of its own on, which is never of an earlier date than this one.
    const days = some.map(({ before }) => Math.floor(before / dayMs))
    const workspaces = some.map(({ workspaceId }) => workspaceId)
    rows += await deleteWhere(
      ch,
      `workspace_id IN {workspaces:Array(UInt32)} AND day < {latest:UInt16}
       AND day < transform(workspace_id, {workspaces:Array(UInt32)}, {days:Array(UInt16)}, toUInt16(0))`,
      { workspaces, days, latest: Math.max(...days) },
    )
  }
  return rows
}

async function deleteWhere(
  ch: JobContext['ch'],
  condition: string,
  params: Readonly<Record<string, unknown>>,
): Promise<number> {
  const [found] = await ch.query<{ rows: number }>(
    `SELECT count() AS rows FROM search_days WHERE ${condition}`,
    params,
    {
      deadlineMs,
    },
  )
  if (found!.rows === 0) return 0
  const settings = 'SETTINGS mutations_sync = 1'
  await ch.command(`ALTER TABLE search_days DELETE WHERE ${condition} ${settings}`, params, { deadlineMs })
  return found!.rows
}
