/**
 * Deletes the remaining rows of workspaces whose deletion was asked for (`svc workspace delete`). Every step may be
 * repeated, so a run that was killed is finished by the next one. A workspace that another run is at is left to it. Rows that
 * arrive later go with `expire-data`.
 */
import { forgetEndedJobs } from '../../postgres/tables/operation/set-aside-jobs.ts'
import { deleteRowsOf, finishDeletion, listDueDeletions } from '../../postgres/tables/workspaces/workspace-deletions.ts'
import { workspaceDeletionGraceMs } from '../../schemas/limits/ingest-limits.ts'
import type { JobContext } from '../queue/job.ts'
import { deleteClickHouseRowsOf } from './delete-removed.ts'
import { forEach } from './sweep.ts'

export async function deleteWorkspaces(
  context: Pick<JobContext, 'pg' | 'ch' | 'log' | 'signal'>,
  graceMs = workspaceDeletionGraceMs,
): Promise<void> {
  const { pg, ch, signal } = context
  const due = (await listDueDeletions(pg, graceMs)).map((id) => ({ id }))
  await forEach(context, 'workspace', due, async ({ id }) => {
    // Two at once take the same rows: who finds them gone goes on to those that other rows still refer to, and fails.
    const lock = pg.heldLock(`deletion of workspace ${id}`)
    if (!(await lock.hold())) return
    try {
      await deleteRowsOf(pg, id, signal)
      await deleteClickHouseRowsOf(ch, id, signal)
      await forgetEndedJobs(pg)
      await finishDeletion(pg, id)
    } finally {
      await lock.release()
    }
  })
}
