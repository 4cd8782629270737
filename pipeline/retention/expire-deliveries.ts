/** Deletes old records of finished deliveries, then their outbox events, and jobs set aside that nobody waits for. */
import { forgetEndedJobs } from '../../postgres/tables/set-aside-jobs.ts'
import { deleteOldDeliveries, deleteOldOutbox } from '../../postgres/tables/webhook-deliveries.ts'
import { webhookExpiredEach, webhookRecordKeepMs } from '../../schemas/limits/webhook-limits.ts'
import { agreedTime } from '../agreed-time.ts'
import type { JobContext } from '../queue/job.ts'

const portions = [
  { table: 'webhook_deliveries', deletePortion: deleteOldDeliveries },
  { table: 'outbox', deletePortion: deleteOldOutbox },
] as const

export async function expireDeliveries(context: JobContext): Promise<void> {
  const { pg, metrics, signal } = context
  const before = (await agreedTime(context)) - webhookRecordKeepMs
  for (const { table, deletePortion } of portions) {
    for (let gone = webhookExpiredEach; gone === webhookExpiredEach && !signal.aborted; ) {
      gone = await deletePortion(pg, before, webhookExpiredEach)
      metrics.rowsExpired(table, gone)
    }
  }
  await forgetEndedJobs(pg)
}
