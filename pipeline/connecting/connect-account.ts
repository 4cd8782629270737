/** Connects an account whose credentials were tried, or renews the connection of one that there is; and ends a connection. */
import type { Queryable } from '../../postgres/client.ts'
import { deleteCredentials, putCredentials } from '../../postgres/tables/accounts/account-credentials.ts'
import { serializeAccount } from '../../postgres/tables/accounts/serialize-account.ts'
import {
  type ConnectedAccount,
  connectSocialAccount,
  countSocialAccounts,
  disconnectSocialAccount,
  endLimits,
  lockSocialAccount,
  renameSocialAccount,
  type SocialAccount,
} from '../../postgres/tables/accounts/social-accounts.ts'
import { insertOutbox } from '../../postgres/tables/webhooks/outbox.ts'
import { lockWorkspace } from '../../postgres/tables/workspaces/workspaces.ts'
import { socialAccountsMax } from '../../schemas/limits/api-limits.ts'
import { isHandleChosen } from '../../schemas/reference/account-fields.ts'
import { ConnectingRefused } from './connecting-refused.ts'

export interface Connection {
  readonly account: ConnectedAccount
  /** Its credentials; null: it is simulated. */
  readonly sealed: Buffer | null
  /** Whether a real account may become a simulated one. */
  readonly mayPretend?: boolean
  /** The account whose connection is to be renewed, where one was named. */
  readonly renews?: number | undefined
}

/** Writes no audit row. @throws ConnectingRefused, then nothing was written */
export async function connectAccount(tx: Queryable, { account: wanted, sealed, mayPretend, renews }: Connection) {
  const { workspaceId, platform } = wanted
  await lockWorkspace(tx, workspaceId)
  const before = await lockSocialAccount(tx, wanted)
  if (renews !== undefined && before?.id !== renews) {
    throw new ConnectingRefused(null, `These are the credentials of another account, ${wanted.handle}`)
  }
  if (before === null && (await countSocialAccounts(tx, workspaceId)) >= socialAccountsMax) {
    throw new ConnectingRefused(null, `the workspace has ${socialAccountsMax} accounts, as many as it may have`)
  }
  if (sealed === null && !mayPretend && before !== null && before.connection_type !== 'simulated') {
    throw new ConnectingRefused(
      null,
      `${platform} ${wanted.handle} is a real account: name its secret, or --type simulated to publish nowhere from now on`,
    )
  }
  // Elsewhere the platform tells the handle: an account of the same one was made anew.
  const isOther = sealed !== null && (before?.external_id ?? wanted.externalId) !== wanted.externalId
  if (isHandleChosen(platform) && isOther) {
    const way = renews === undefined ? 'name another handle' : 'connect this one by itself'
    throw new ConnectingRefused(null, `${platform} ${wanted.handle} is another account: ${way}`)
  }
  const handle = before === null ? wanted.handle : await renameSocialAccount(tx, before, wanted.handle)
  const account = await connectSocialAccount(tx, { ...wanted, handle })
  if (sealed === null) await deleteCredentials(tx, account.id)
  else await putCredentials(tx, account.id, sealed)
  await endLimits(tx, account.id)
  const shown = serializeAccount(account)
  if (isHealthChanged(before, account)) {
    await insertOutbox(tx, workspaceId, 'social_account.health_changed', shown)
  }
  return { account: shown, isRenewed: before !== null }
}

function isHealthChanged(before: SocialAccount | null, { health_status, health_message }: SocialAccount): boolean {
  if (before === null) return false
  return before.health_status !== health_status || before.health_message !== health_message
}

/**
 * Ends a connection: the account stays, its credentials go. Its scheduled posts stay scheduled; their targets fail once they are due.
 * @param workspaceId undefined: of any workspace
 * @returns null where there is no such account
 */
export async function disconnectAccount(tx: Queryable, id: number, workspaceId?: number) {
  const disconnected = await disconnectSocialAccount(tx, id, workspaceId)
  if (disconnected !== null) await deleteCredentials(tx, id)
  return disconnected
}
