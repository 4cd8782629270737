import { serializeAccount } from '../../postgres/tables/serialize-account.ts'
import { listSocialAccounts } from '../../postgres/tables/social-accounts.ts'
import { defineCommand } from '../command.ts'
import { table } from '../table.ts'

export const listAccounts = defineCommand({
  name: 'accounts list',
  summary: 'List the social accounts of a workspace, newest first.',
  options: {
    workspace: { value: 'ID', meaning: 'The workspace; without it the only or first one.' },
  },
  async run({ options, installation }) {
    const workspace = await installation.workspace(options.id('workspace'))
    return (await listSocialAccounts(installation.postgres(), workspace.id)).map(serializeAccount)
  },
  show: (accounts) =>
    accounts.length === 0
      ? 'no accounts'
      : table(
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
