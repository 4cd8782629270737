/** Deletes the salts of days that began two days ago or earlier: from then on nothing can rebuild their hashes. */
import { deleteOldSalts } from '../../postgres/tables/operation/salts.ts'
import { saltKeepMs } from '../../schemas/limits/ingest-limits.ts'
import { agreedTime } from '../agreed-time.ts'
import type { JobContext } from '../queue/job.ts'

export async function expireSalts(context: JobContext): Promise<void> {
  const now = await agreedTime(context)
  context.metrics.rowsExpired('visitor_salts', await deleteOldSalts(context.pg, now, saltKeepMs))
}
