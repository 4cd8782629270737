/** Social accounts: connected, listed, disconnected. */
import {
  connectAccount as connect,
  disconnectAccount as disconnect,
} from '../../pipeline/connecting/connect-account.ts'
import { makeCredentialsBox } from '../../pipeline/publishing/adapters.ts'
import { serializeAccount } from '../../postgres/tables/accounts/serialize-account.ts'
import { type ConnectedAccount, listSocialAccounts } from '../../postgres/tables/accounts/social-accounts.ts'
import { socialAccountNameLengthMax } from '../../schemas/limits/api-limits.ts'
import { privacies } from '../../schemas/reference/account-fields.ts'
import { platforms } from '../../schemas/reference/providers.ts'
import { connectionTypes } from '../../schemas/resources/social-account.ts'
import { asCommandError, signInByOptions } from '../accounts/sign-in-by-options.ts'
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
        'How: oauth (mastodon, x, linkedin, threads, instagram, facebook, pinterest, youtube, tiktok), app_password (bluesky), bot_token (telegram), webhook (discord), or simulated, which publishes nowhere. By the secret.',
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
    channel: {
      value: 'NAME',
      meaning: 'The channel on Telegram: --channel @name, or --channel=-1001234567890.',
    },
    privacy: { value: 'WHO', meaning: `Who sees the posts on TikTok: ${privacies.join(', ')}.` },
    secret: {
      value: 'S',
      meaning:
        "An access token (mastodon, linkedin, threads, instagram, facebook, pinterest), Bluesky's app password, the four values of an app on X, the three of a client of Google's, JSON (tiktok), a bot's token (telegram), or a webhook's address (discord).",
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
    const signedIn = await signInByOptions(platform, type, options, { config: installation.config, signal })
    const account: ConnectedAccount = {
      workspaceId,
      platform,
      handle: signedIn?.handle ?? handle ?? slug,
      displayName: displayName ?? signedIn?.displayName,
      connectionType: signedIn?.connectionType ?? 'simulated',
      externalId: signedIn?.externalId ?? null,
      metadata: signedIn?.metadata ?? {},
    }
    const sealed = signedIn && seal(signedIn.credentials, await installation.secretKey())
    return installation.postgres().transaction(async (tx) => {
      const connection = { account, sealed, mayPretend: type === 'simulated' }
      const { account: shown, isRenewed } = await connect(tx, connection).catch(asCommandError)
      await auditCommand(tx, workspaceId, 'social_account.connect', shown.id, {
        platform,
        handle: shown.handle,
        connection_type: shown.connection_type,
        is_renewed: isRenewed,
      })
      return shown
    })
  },
  show: ({ id, platform, handle }) => `account ${id}: ${platform} ${handle}`,
})

function seal(credentials: object, secretKey: string | undefined): Buffer {
  if (secretKey === undefined) throw new CommandFailed('SECRET_KEY must be set: credentials are stored encrypted')
  return makeCredentialsBox(secretKey).seal(JSON.stringify(credentials))
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
      const disconnected = await disconnect(tx, id)
      if (disconnected === null) throw new CommandFailed(`there is no account ${id}`)
      const { account, workspaceId, isNew } = disconnected
      if (isNew) await auditCommand(tx, workspaceId, 'social_account.disconnect', id, { platform: account.platform })
      return serializeAccount(account)
    })
  },
  show: ({ id, platform, handle }) => `account ${id} disconnected: ${platform} ${handle}`,
})
