/** Deletes old records of finished deliveries, then their outbox events, and jobs set aside that nobody waits for. */
import { forgetEndedJobs } from '../../postgres/tables/operation/set-aside-jobs.ts'
import { deleteOldDeliveries, deleteOldOutbox } from '../../postgres/tables/webhooks/webhook-deliveries.ts'
import { webhookExpiredEach, webhookRecordKeepMs } from '../../schemas/limits/webhook-limits.ts'
import { agreedTime } from '../agreed-time.ts'
import type { JobContext } from '../queue/job.ts'
import { deleteInPortions } from './sweep.ts'

export async function expireDeliveries(context: JobContext): Promise<void> {
  const { pg } = context
  const before = (await agreedTime(context)) - webhookRecordKeepMs
  const limit = webhookExpiredEach
  await deleteInPortions(context, 'webhook_deliveries', limit, () => deleteOldDeliveries(pg, before, limit))
  await deleteInPortions(context, 'outbox', limit, () => deleteOldOutbox(pg, before, limit))
  await forgetEndedJobs(pg)
}
