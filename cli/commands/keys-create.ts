import { createApiKey } from '../../postgres/tables/api-keys.ts'
import { apiKeyNameLengthMax } from '../../schemas/limits/api-limits.ts'
import { isScope, type Scope, scopes } from '../../schemas/scopes.ts'
import { auditCommand } from '../audit-command.ts'
import { CommandFailed, defineCommand, type OptionValues, UsageError } from '../command.ts'

export const createKey = defineCommand({
  name: 'keys create',
  summary: 'Make a secret API key; it is shown once and can not be read again.',
  options: {
    workspace: { value: 'ID', meaning: 'The workspace; without it the only or first one.' },
    name: { value: 'NAME', meaning: 'What the key is for.', isRequired: true },
    scopes: { value: 'A,B', meaning: `What it may do: all, or of ${scopes.join(', ')}.`, isRequired: true },
    expires: { value: 'TIME', meaning: 'When it stops working, RFC 3339 with an offset; never when left out.' },
  },
  async run({ options, installation }) {
    const id = options.id('workspace')
    const name = options.text('name', apiKeyNameLengthMax)!
    const chosen = readScopes(options.text('scopes')!)
    const expiresAt = readExpiry(options)
    const workspace = await installation.workspace(id)
    const key = await installation.postgres().transaction(async (tx) => {
      const made = await createApiKey(tx, { workspaceId: workspace.id, name, scopes: chosen, expiresAt })
      if (made === null) throw new CommandFailed(`there is no workspace ${workspace.id}`)
      const metadata = { name, scopes: chosen, prefix: made.prefix, expires_at: expiresAt }
      await auditCommand(tx, workspace.id, 'api_key.create', made.id, metadata)
      return made
    })
    return { id: key.id, api_key: key.apiKey, prefix: key.prefix, scopes: key.scopes }
  },
  show: ({ id, api_key, scopes: granted }) => `key ${id}: ${api_key}\nscopes: ${granted.join(', ')}`,
})

function readScopes(text: string): Scope[] {
  if (text === 'all') return [...scopes]
  const named = text.split(',').map((part) => part.trim())
  const unknown = named.find((part) => !isScope(part))
  if (unknown !== undefined) {
    throw new UsageError(`--scopes has \`${unknown}\`, which is no scope; there are all, ${scopes.join(', ')}`)
  }
  return scopes.filter((scope) => named.includes(scope))
}

/** A key that is dead when it is made is a slip of the pen. */
function readExpiry(options: OptionValues): Date | null {
  const time = options.time('expires')
  if (time === undefined) return null
  if (time <= Date.now()) throw new UsageError(`--expires must lie in the future, got \`${options.text('expires')}\``)
  return new Date(time)
}
