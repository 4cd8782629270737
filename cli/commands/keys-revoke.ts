import { revokeApiKey } from '../../postgres/tables/api-keys.ts'
import { CommandFailed, defineCommand, readId } from '../command.ts'

export const revokeKey = defineCommand({
  name: 'keys revoke',
  summary: 'Revoke an API key by its id; it stops working everywhere within 5 seconds. Again is no error.',
  argument: 'ID',
  options: {},
  async run({ argument, installation }) {
    const id = readId(argument, 'ID')
    const revokedAt = await revokeApiKey(installation.postgres(), id)
    if (revokedAt === null) throw new CommandFailed(`there is no key ${id}`)
    return { id, revoked_at: revokedAt }
  },
  show: ({ id, revoked_at }) => `key ${id} revoked at ${revoked_at.toISOString()}`,
})
