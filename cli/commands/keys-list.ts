import { type ListedApiKey, listApiKeys } from '../../postgres/tables/api-keys.ts'
import { scopes } from '../../schemas/scopes.ts'
import { defineCommand } from '../command.ts'
import { table } from '../table.ts'

export const listKeys = defineCommand({
  name: 'keys list',
  summary:
    'List the API keys and shared links of a workspace without the keys themselves: working ones first, then newest first.',
  options: {
    workspace: { value: 'ID', meaning: 'The workspace; without it the only or first one.' },
  },
  async run({ options, installation }) {
    const workspace = await installation.workspace(options.id('workspace'))
    return listApiKeys(installation.postgres(), workspace.id)
  },
  show: (keys) =>
    keys.length === 0
      ? 'no keys'
      : table(
          ['id', 'kind', 'name', 'prefix', 'state', 'last used', 'scopes'],
          keys.map((key) => [
            String(key.id),
            key.kind.replace('_', ' '),
            key.name,
            key.prefix,
            stateOf(key),
            key.last_used_at?.toISOString() ?? 'never',
            scopes.every((scope) => key.scopes.includes(scope)) ? 'all' : key.scopes.join(','),
          ]),
        ),
})

function stateOf({ revoked_at, expires_at }: ListedApiKey): string {
  if (revoked_at) return 'revoked'
  if (expires_at === null) return 'live'
  return expires_at.getTime() <= Date.now() ? 'expired' : `until ${expires_at.toISOString()}`
}
