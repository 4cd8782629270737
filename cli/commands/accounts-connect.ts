import { shownAccount } from '../../api/operations/accounts/shown.ts'
import type { Queryable } from '../../postgres/client.ts'
import { insertOutbox } from '../../postgres/tables/outbox.ts'
import {
  type ConnectedAccount,
  connectSocialAccount,
  countSocialAccounts,
  lockSocialAccount,
  type SocialAccount,
} from '../../postgres/tables/social-accounts.ts'
import { holdWorkspace } from '../../postgres/tables/workspaces.ts'
import { socialAccountNameLengthMax, socialAccountsMax } from '../../schemas/api-limits.ts'
import { platforms } from '../../schemas/reference/providers.ts'
import { connectionTypes } from '../../schemas/resources/social-account.ts'
import { auditCommand } from '../audit-command.ts'
import { CommandFailed, defineCommand } from '../command.ts'

export const connectAccount = defineCommand({
  name: 'accounts connect',
  summary: 'Connect a social account, or renew the connection of one that there is.',
  options: {
    workspace: { value: 'ID', meaning: 'The workspace; without it the only or first one.' },
    platform: { value: 'P', meaning: `One of ${platforms.join(', ')}.`, isRequired: true },
    type: { value: 'TYPE', meaning: 'How: simulated, which publishes nowhere; the default.' },
    handle: { value: 'HANDLE', meaning: "Its name on the platform; the workspace's slug when left out." },
    'display-name': { value: 'NAME', meaning: 'What people see; the handle when left out.' },
  },
  async run({ options, installation }) {
    const id = options.id('workspace')
    const platform = options.oneOf('platform', platforms)!
    const connectionType = options.oneOf('type', connectionTypes) ?? 'simulated'
    const handle = options.text('handle', socialAccountNameLengthMax)
    const displayName = options.text('display-name', socialAccountNameLengthMax)
    if (connectionType !== 'simulated') {
      throw new CommandFailed(
        `accounts can't be connected by ${connectionType} yet: --type simulated publishes nowhere`,
      )
    }
    const { id: workspaceId, slug } = await installation.workspace(id)
    const wanted = { workspaceId, platform, handle: handle ?? slug, displayName, connectionType }
    return installation.postgres().transaction((tx) => connect(tx, wanted))
  },
  show: ({ id, platform, handle }) => `account ${id}: ${platform} ${handle}`,
})

async function connect(tx: Queryable, wanted: ConnectedAccount) {
  const { workspaceId, platform, handle } = wanted
  await holdWorkspace(tx, workspaceId)
  const before = await lockSocialAccount(tx, workspaceId, platform, handle)
  if (before === null && (await countSocialAccounts(tx, workspaceId)) >= socialAccountsMax) {
    throw new CommandFailed(`the workspace has ${socialAccountsMax} accounts, as many as it may have`)
  }
  const account = await connectSocialAccount(tx, wanted)
  const shown = shownAccount(account)
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
