/** Deletes expired records of Idempotency-Keys. They have no effect already; this frees their space. */
import { deleteExpiredIdempotencyRecords } from '../../postgres/tables/workspaces/idempotency.ts'
import { idempotencySweepMax } from '../../schemas/limits/api-limits.ts'
import type { JobContext } from '../queue/job.ts'
import { deleteInPortions } from './sweep.ts'

export async function expireIdempotency(context: JobContext): Promise<void> {
  await deleteInPortions(context, 'idempotency_records', idempotencySweepMax, () =>
    deleteExpiredIdempotencyRecords(context.pg, idempotencySweepMax),
  )
}
