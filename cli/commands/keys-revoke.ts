import { revokeApiKey } from '../../postgres/tables/api-keys.ts'
import { auditCommand } from '../audit-command.ts'
import { CommandFailed, defineCommand, readId } from '../command.ts'

export const revokeKey = defineCommand({
  name: 'keys revoke',
  summary:
    'Revoke an API key or a shared link by its id; it stops working everywhere within 5 seconds. Again is no error.',
  argument: 'ID',
  options: {},
  async run({ argument, installation }) {
    const id = readId(argument, 'ID')
    const revoked = await installation.postgres().transaction(async (tx) => {
      const key = await revokeApiKey(tx, id)
      if (key?.isNew) await auditCommand(tx, key.workspaceId, `${key.kind}.revoke`, id, {})
      return key
    })
    if (revoked === null) throw new CommandFailed(`there is no key ${id}`)
    return { id, kind: revoked.kind, revoked_at: revoked.revokedAt }
  },
  show: ({ id, kind, revoked_at }) => `${kind.replace('_', ' ')} ${id} revoked at ${revoked_at.toISOString()}`,
})
