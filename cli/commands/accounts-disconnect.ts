import { deleteCredentials } from '../../postgres/tables/account-credentials.ts'
import { serializeAccount } from '../../postgres/tables/serialize-account.ts'
import { disconnectSocialAccount } from '../../postgres/tables/social-accounts.ts'
import { auditCommand } from '../audit-command.ts'
import { CommandFailed, defineCommand, readId } from '../command.ts'

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
