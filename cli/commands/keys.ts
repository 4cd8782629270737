/** Secret keys and shared links, and the public key of tracking. */
import {
  createApiKey,
  type ListedApiKey,
  listApiKeys,
  revokeApiKey,
} from '../../postgres/tables/workspaces/api-keys.ts'
import { createTrackingKey, retireTrackingKeys } from '../../postgres/tables/workspaces/tracking-keys.ts'
import { apiKeyNameLengthMax, trackingKeyGraceDays } from '../../schemas/limits/api-limits.ts'
import { isScope, type Scope, scopes } from '../../schemas/scopes.ts'
import { auditCommand } from '../audit-command.ts'
import { CommandFailed, defineCommand, type OptionValues, readId, UsageError, workspaceOption } from '../command.ts'
import { tableOr } from '../table.ts'

export const createKey = defineCommand({
  name: 'keys create',
  summary: 'Make a secret API key; it is shown once and can not be read again.',
  options: {
    workspace: workspaceOption,
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

export const listKeys = defineCommand({
  name: 'keys list',
  summary:
    'List the API keys, shared links and connected apps of a workspace without their secrets: working ones first, then newest first.',
  options: { workspace: workspaceOption },
  async run({ options, installation }) {
    const workspace = await installation.workspace(options.id('workspace'))
    return listApiKeys(installation.postgres(), workspace.id)
  },
  show: (keys) =>
    tableOr(
      'no keys',
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

export const revokeKey = defineCommand({
  name: 'keys revoke',
  summary:
    'Revoke an API key, a shared link or a connected app by its id; it stops working everywhere within 5 seconds. Again is no error.',
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

export const rotateTrackingKey = defineCommand({
  name: 'tracking-key rotate',
  summary: `Make a new tracking key; the ones before go on for ${trackingKeyGraceDays} days.`,
  options: { workspace: workspaceOption },
  async run({ options, installation }) {
    const workspace = await installation.workspace(options.id('workspace'))
    return installation.postgres().transaction(async (tx) => {
      const retiresAt = await retireTrackingKeys(tx, workspace.id, trackingKeyGraceDays)
      const key = await createTrackingKey(tx, workspace.id)
      await auditCommand(tx, workspace.id, 'tracking_key.rotate', null, { tracking_key: key })
      return { workspace_id: workspace.id, tracking_key: key, others_retire_at: retiresAt }
    })
  },
  show: ({ workspace_id, tracking_key, others_retire_at }) =>
    `workspace ${workspace_id}: ${tracking_key}${others_retire_at === null ? '' : `\nthe ones before go on until ${others_retire_at.toISOString()}`}`,
})
