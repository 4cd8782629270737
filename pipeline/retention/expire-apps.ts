/** Deletes connections of apps that have ended, and registrations and sign-ins at platforms whose time is over. They have no effect already. */
import { deleteExpiredSignIns } from '../../postgres/tables/accounts/account-sign-ins.ts'
import { deleteEndedApps } from '../../postgres/tables/members/connected-apps.ts'
import { deleteExpiredClients } from '../../postgres/tables/members/oauth-clients.ts'
import { appSweepMax } from '../../schemas/limits/oauth-limits.ts'
import { agreedTime } from '../agreed-time.ts'
import type { JobContext } from '../queue/job.ts'
import { deleteInPortions } from './sweep.ts'

export async function expireApps(context: JobContext): Promise<void> {
  const at = new Date(await agreedTime(context))
  const tables = [
    ['connected_apps', deleteEndedApps],
    ['oauth_clients', deleteExpiredClients],
    ['account_sign_ins', deleteExpiredSignIns],
  ] as const
  for (const [table, deleteSome] of tables) {
    await deleteInPortions(context, table, appSweepMax, () => deleteSome(context.pg, at))
  }
}
