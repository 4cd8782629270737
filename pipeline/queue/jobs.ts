/** Every job. A new one is a file in pipeline/retention/, a line here, one in schemas/jobs.ts and one in schedule.ts. */

import { deleteWorkspaces } from '../retention/delete-workspaces.ts'
import { expireApps } from '../retention/expire-apps.ts'
import { expireData } from '../retention/expire-data.ts'
import { expireDeliveries } from '../retention/expire-deliveries.ts'
import { expireIdempotency } from '../retention/expire-idempotency.ts'
import { expireSalts } from '../retention/expire-salts.ts'
import type { Jobs } from './job.ts'

export const jobs: Jobs = {
  'delete-workspaces': deleteWorkspaces,
  'expire-apps': expireApps,
  'expire-data': expireData,
  'expire-deliveries': expireDeliveries,
  'expire-idempotency': expireIdempotency,
  'expire-salts': expireSalts,
}
