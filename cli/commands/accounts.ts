/** Social accounts: connected, listed, disconnected. */
import { makeCredentialsBox } from '../../pipeline/publishing/adapters.ts'
import { privacies } from '../../pipeline/publishing/tiktok.ts'
import type { Queryable } from '../../postgres/client.ts'
import { deleteCredentials, putCredentials } from '../../postgres/tables/account-credentials.ts'
import { insertOutbox } from '../../postgres/tables/outbox.ts'
import { serializeAccount } from '../../postgres/tables/serialize-account.ts'
import {
  type ConnectedAccount,
  connectSocialAccount,
  countSocialAccounts,
  disconnectSocialAccount,
  listSocialAccounts,
  lockSocialAccount,
  renameSocialAccount,
  type SocialAccount,
} from '../../postgres/tables/social-accounts.ts'
import { holdWorkspace } from '../../postgres/tables/workspaces.ts'
import { socialAccountNameLengthMax, socialAccountsMax } from '../../schemas/limits/api-limits.ts'
import { platforms } from '../../schemas/reference/providers.ts'
import { type ConnectionType, connectionTypes } from '../../schemas/resources/social-account.ts'
import { signIn } from '../accounts/sign-in.ts'
import { auditCommand } from '../audit-command.ts'
import { CommandFailed, defineCommand, readId, workspaceOption } from '../command.ts'
import { secretFileOption } from '../read-secret.ts'
import { tableOr } from '../table.ts'

export const connectAccount = defineCommand({
  name: 'accounts connect',
  summary: 'Connect a social account, or renew the connection of one that there is.',
  options: {
    workspace: workspaceOption,
    platform: { value: 'P', meaning: `One of ${platforms.join(', ')}.`, isRequired: true },
    type: {
      value: 'TYPE',
      meaning:
        'How: oauth (mastodon, x, linkedin, threads, instagram, facebook, pinterest, youtube, tiktok), app_password (bluesky), or simulated, which publishes nowhere. By the secret.',
    },
    url: {
      value: 'URL',
      meaning: 'The Mastodon instance, or the server of the account: https://bsky.social, https://api.x.com.',
    },
    page: {
      value: 'ID',
      meaning:
        'The page to publish as, by its number; of instagram the one on Facebook. On linkedin without it as the person.',
    },
    board: { value: 'ID', meaning: 'The board on Pinterest that is pinned to, by its number.' },
    privacy: { value: 'WHO', meaning: `Who sees the posts on TikTok: ${privacies.join(', ')}.` },
    secret: {
      value: 'S',
      meaning:
        "An access token (mastodon, linkedin, threads, instagram, facebook, pinterest), Bluesky's app password, the four values of an app on X, the three of a client of Google's, or JSON (tiktok).",
    },
    'secret-file': secretFileOption,
    handle: {
      value: 'HANDLE',
      meaning:
        "Its name on the platform: required by bluesky, told by the others that are real, else the workspace's slug.",
    },
    'display-name': { value: 'NAME', meaning: 'What people see; the handle when left out.' },
  },
  async run({ options, installation, signal }) {
    const id = options.id('workspace')
    const platform = options.oneOf('platform', platforms)!
    const type = options.oneOf('type', connectionTypes)
    const handle = options.text('handle', socialAccountNameLengthMax)
    const displayName = options.text('display-name', socialAccountNameLengthMax)
    const { id: workspaceId, slug } = await installation.workspace(id)
    const signedIn = await signIn(platform, type, handle, options, signal)
    const wanted: ConnectedAccount = {
      ...{ workspaceId, platform },
      handle: signedIn?.handle ?? handle ?? slug,
      displayName: displayName ?? signedIn?.displayName,
      connectionType: signedIn?.connectionType ?? 'simulated',
      externalId: signedIn?.externalId ?? null,
      metadata: signedIn?.metadata ?? {},
    }
    const sealed = signedIn && seal(signedIn.credentials, await installation.secretKey())
    return installation.postgres().transaction((tx) => connect(tx, wanted, sealed, type))
  },
  show: ({ id, platform, handle }) => `account ${id}: ${platform} ${handle}`,
})

function seal(credentials: object, secretKey: string | undefined): Buffer {
  if (secretKey === undefined) throw new CommandFailed('SECRET_KEY must be set: credentials are stored encrypted')
  return makeCredentialsBox(secretKey).seal(JSON.stringify(credentials))
}

/** @param sealed what it is published to by; null where it is simulated */
async function connect(
  tx: Queryable,
  wanted: ConnectedAccount,
  sealed: Buffer | null,
  type: ConnectionType | undefined,
) {
  const { workspaceId, platform } = wanted
  await holdWorkspace(tx, workspaceId)
  const before = await lockSocialAccount(tx, wanted)
  if (before === null && (await countSocialAccounts(tx, workspaceId)) >= socialAccountsMax) {
    throw new CommandFailed(`the workspace has ${socialAccountsMax} accounts, as many as it may have`)
  }
  if (sealed === null && type !== 'simulated' && before !== null && before.connection_type !== 'simulated') {
    throw new CommandFailed(
      `${platform} ${wanted.handle} is a real account: name its secret, or --type simulated to publish nowhere from now on`,
    )
  }
  // Elsewhere the platform tells the handle: an account of the same one was made anew.
  const isOther = sealed !== null && (before?.external_id ?? wanted.externalId) !== wanted.externalId
  if (platform === 'linkedin' && isOther) {
    throw new CommandFailed(`linkedin ${wanted.handle} is another account: name another --handle`)
  }
  const handle = before === null ? wanted.handle : await renameSocialAccount(tx, before, wanted.handle)
  const account = await connectSocialAccount(tx, { ...wanted, handle })
  if (sealed === null) await deleteCredentials(tx, account.id)
  else await putCredentials(tx, account.id, sealed)
  const shown = serializeAccount(account)
  if (isHealthChanged(before, account)) {
    await insertOutbox(tx, workspaceId, 'social_account.health_changed', shown)
  }
  const metadata = { platform, handle, connection_type: account.connection_type, is_renewed: before !== null }
  await auditCommand(tx, workspaceId, 'social_account.connect', account.id, metadata)
  return shown
}

function isHealthChanged(before: SocialAccount | null, { health_status, health_message }: SocialAccount): boolean {
  if (before === null) return false
  return before.health_status !== health_status || before.health_message !== health_message
}

export const listAccounts = defineCommand({
  name: 'accounts list',
  summary: 'List the social accounts of a workspace, newest first.',
  options: { workspace: workspaceOption },
  async run({ options, installation }) {
    const workspace = await installation.workspace(options.id('workspace'))
    return (await listSocialAccounts(installation.postgres(), workspace.id)).map(serializeAccount)
  },
  show: (accounts) =>
    tableOr(
      'no accounts',
      ['id', 'platform', 'handle', 'name', 'type', 'status', 'health'],
      accounts.map(({ id, platform, handle, display_name, connection_type, status, health_status }) => [
        String(id),
        platform,
        handle,
        display_name,
        connection_type,
        status,
        health_status,
      ]),
    ),
})

export const disconnectAccount = defineCommand({
  name: 'accounts disconnect',
  summary: 'Disconnect a social account by its id: nothing is published to it any more. Again is no error.',
  argument: 'ID',
  options: {},
  async run({ argument, installation }) {
    const id = readId(argument, 'ID')
    return installation.postgres().transaction(async (tx) => {
      const disconnected = await disconnectSocialAccount(tx, id)
      if (disconnected === null) throw new CommandFailed(`there is no account ${id}`)
      const { account, workspaceId, isNew } = disconnected
      await deleteCredentials(tx, id)
      if (isNew) await auditCommand(tx, workspaceId, 'social_account.disconnect', id, { platform: account.platform })
      return serializeAccount(account)
    })
  },
  show: ({ id, platform, handle }) => `account ${id} disconnected: ${platform} ${handle}`,
})
