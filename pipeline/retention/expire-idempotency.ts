/** Deletes expired records of Idempotency-Keys. They have no effect already; this frees their space. */
import { deleteExpiredIdempotencyRecords } from '../../postgres/tables/idempotency.ts'
import { idempotencySweepMax } from '../../schemas/limits/api-limits.ts'
import type { JobContext } from '../queue/job.ts'

export async function expireIdempotency({ pg, metrics, signal }: JobContext): Promise<void> {
  for (;;) {
    const gone = await deleteExpiredIdempotencyRecords(pg, idempotencySweepMax)
    metrics.rowsExpired('idempotency_records', gone)
    if (gone < idempotencySweepMax || signal.aborted) return
  }
}
