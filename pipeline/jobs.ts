/** Every job that there is. A new one is a file in `jobs/`, a line here and one in schemas/jobs.ts. */
import type { Jobs } from './job.ts'
import { expireData } from './jobs/expire-data.ts'
import { expireDeliveries } from './jobs/expire-deliveries.ts'
import { expireIdempotency } from './jobs/expire-idempotency.ts'
import { expireSalts } from './jobs/expire-salts.ts'

export const jobs: Jobs = {
  'expire-data': expireData,
  'expire-deliveries': expireDeliveries,
  'expire-idempotency': expireIdempotency,
  'expire-salts': expireSalts,
}
