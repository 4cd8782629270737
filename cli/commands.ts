/** Every command there is. A new one is a file in `commands/` and a line here. */
import type { Command } from './command.ts'
import { connectAccount } from './commands/accounts-connect.ts'
import { disconnectAccount } from './commands/accounts-disconnect.ts'
import { listAccounts } from './commands/accounts-list.ts'
import { importAds } from './commands/ads-import.ts'
import { verifyAudit } from './commands/audit-verify.ts'
import { updateBots } from './commands/bots-update.ts'
import { doctor } from './commands/doctor.ts'
import { exportHistory } from './commands/events-export.ts'
import { importHistory } from './commands/events-import.ts'
import { checkFigures } from './commands/figures-check.ts'
import { rebuildFigures } from './commands/figures-rebuild.ts'
import { showFigures } from './commands/figures-status.ts'
import { listJobs } from './commands/jobs-list.ts'
import { retryJobs } from './commands/jobs-retry.ts'
import { createKey } from './commands/keys-create.ts'
import { listKeys } from './commands/keys-list.ts'
import { revokeKey } from './commands/keys-revoke.ts'
import { importLinkFile } from './commands/links-import.ts'
import { migrate } from './commands/migrate.ts'
import { makeOwnerLink } from './commands/owner-link.ts'
import { setPassword } from './commands/owner-password.ts'
import { erasePeople } from './commands/people-erase.ts'
import { setPlanOfWorkspace } from './commands/plan-set.ts'
import { replay } from './commands/replay.ts'
import { restoreMarks } from './commands/restore-marks.ts'
import { restoreNumbers } from './commands/restore-numbers.ts'
import { connectRevenue } from './commands/revenue-connect.ts'
import { disconnectRevenueProvider } from './commands/revenue-disconnect.ts'
import { importRevenue } from './commands/revenue-import.ts'
import { listRevenue } from './commands/revenue-list.ts'
import { importRates } from './commands/revenue-rates.ts'
import { removeSecondFactor } from './commands/second-factor-remove.ts'
import { seed } from './commands/seed.ts'
import { rotateTrackingKey } from './commands/tracking-key-rotate.ts'
import { createWorkspaceWithKeys } from './commands/workspace-create.ts'
import { deleteWorkspace } from './commands/workspace-delete.ts'
import { listAllWorkspaces } from './commands/workspace-list.ts'
import { setWorkspace } from './commands/workspace-set.ts'

export const commands: readonly Command[] = [
  createWorkspaceWithKeys,
  listAllWorkspaces,
  setWorkspace,
  deleteWorkspace,
  setPlanOfWorkspace,
  makeOwnerLink,
  setPassword,
  removeSecondFactor,
  createKey,
  listKeys,
  revokeKey,
  rotateTrackingKey,
  connectAccount,
  listAccounts,
  disconnectAccount,
  connectRevenue,
  listRevenue,
  disconnectRevenueProvider,
  importRevenue,
  importRates,
  importAds,
  importLinkFile,
  verifyAudit,
  updateBots,
  migrate,
  replay,
  importHistory,
  exportHistory,
  seed,
  showFigures,
  checkFigures,
  rebuildFigures,
  restoreNumbers,
  restoreMarks,
  listJobs,
  retryJobs,
  erasePeople,
  doctor,
]
