/** Deletes the salts of days that began two days ago or earlier: from then on nothing can rebuild their hashes. */
import { deleteOldSalts } from '../../postgres/tables/salts.ts'
import { saltKeepMs } from '../../schemas/limits.ts'
import type { JobContext } from '../job.ts'

export async function expireSalts({ pg, clock, metrics }: JobContext): Promise<void> {
  metrics.rowsExpired('visitor_salts', await deleteOldSalts(pg, clock.now(), saltKeepMs))
}
