/** Every command there is. A new one is an object in a file of `commands/` and a line here. */
import type { Command } from './command.ts'
import { connectAccount, disconnectAccount, listAccounts } from './commands/accounts.ts'
import { listApps, removeApp, setApp } from './commands/apps.ts'
import { verifyAudit } from './commands/audit-verify.ts'
import { updateBots } from './commands/bots-update.ts'
import { importAds, importRates, importRevenue } from './commands/csv-imports.ts'
import { doctor } from './commands/doctor.ts'
import { exportHistory, importHistory } from './commands/events.ts'
import { checkFigures, rebuildFigures, showFigures } from './commands/figures.ts'
import { listJobs, retryJobs } from './commands/jobs.ts'
import { createKey, listKeys, revokeKey, rotateTrackingKey } from './commands/keys.ts'
import { importLinkFile } from './commands/links-import.ts'
import { migrate } from './commands/migrate.ts'
import { erasePeople } from './commands/people-erase.ts'
import { replay } from './commands/replay.ts'
import { restoreMarks, restoreNumbers } from './commands/restore.ts'
import { connectRevenue, disconnectRevenueProvider, listRevenue } from './commands/revenue-connections.ts'
import { connectSearch, disconnectSearch, listSearch } from './commands/search-sites.ts'
import { seed } from './commands/seed.ts'
import { listShortDomains, releaseShortDomain } from './commands/short-domains.ts'
import { makeOwnerLink, removeSecondFactor, setPassword } from './commands/signing-in.ts'
import {
  createWorkspaceWithKeys,
  deleteWorkspace,
  listAllWorkspaces,
  setPlanOfWorkspace,
  setWorkspace,
} from './commands/workspaces.ts'

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
  setApp,
  listApps,
  removeApp,
  connectRevenue,
  listRevenue,
  disconnectRevenueProvider,
  importRevenue,
  importRates,
  importAds,
  connectSearch,
  listSearch,
  disconnectSearch,
  importLinkFile,
  listShortDomains,
  releaseShortDomain,
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
