/** Secret keys of a workspace: listed, made and revoked by owner and admins in the dashboard. No key makes another one. */
import { z } from 'zod'
import {
  countLiveKeys,
  createApiKey,
  type ListedApiKey,
  listApiKeys,
  revokeApiKey,
} from '../../../postgres/tables/workspaces/api-keys.ts'
import { invalid, problem } from '../../../schemas/errors/problems.ts'
import { valueError } from '../../../schemas/errors/validation-errors.ts'
import { idInPath } from '../../../schemas/lax.ts'
import { apiKeysMax, apiKeysShownMax } from '../../../schemas/limits/api-limits.ts'
import { ApiKeyCreate, ApiKeys, CreatedApiKey } from '../../../schemas/resources/api-key.ts'
import { manageScope, scopes } from '../../../schemas/scopes.ts'
import { requireDate, type WrittenTime } from '../../../schemas/time/written-time.ts'
import { defineOperation } from '../../operations/define.ts'
import { requireManaging } from './require-managing.ts'

export const listOwnKeys = defineOperation({
  name: 'api_key.list',
  http: { method: 'GET', path: '/v1/api-keys' },
  summary: 'List the secret keys, newest first, and the scopes that a new one may have.',
  tag: 'Workspace',
  effect: 'read',
  scope: manageScope,
  input: {},
  output: ApiKeys,
  async handle({ workspace, stores: { pg } }) {
    const keys = await listApiKeys(pg, workspace.id, { kind: 'api_key', max: apiKeysShownMax })
    return {
      keys: keys.map((key) => ({ ...serializeKey(key), scopes: key.scopes })),
      scopes: [...scopes],
    }
  },
})

export const createOwnKey = defineOperation({
  name: 'api_key.create',
  http: { method: 'POST', path: '/v1/api-keys' },
  summary: 'Make a secret key. The answer holds it, once.',
  tag: 'Workspace',
  effect: 'create',
  scope: manageScope,
  input: { body: ApiKeyCreate },
  output: CreatedApiKey,
  answersWithSecret: true,
  problems: ['api_keys_full'],
  async handle({ body: { name, scopes: wanted, expires_at }, workspace, actor, clock, stores: { pg } }) {
    const now = clock.now()
    const expiresAt = expires_at && expiryOf(expires_at, workspace.timezone, now)
    await requireManaging(pg, workspace.id, actor)
    if ((await countLiveKeys(pg, workspace.id, 'api_key', new Date(now))) >= apiKeysMax) throw problem('api_keys_full')
    const granted = scopes.filter((scope) => wanted.includes(scope))
    const made = await createApiKey(pg, {
      workspaceId: workspace.id,
      ownerId: actor.id,
      name,
      scopes: granted,
      expiresAt,
    })
    return { id: made!.id, name, api_key: made!.apiKey }
  },
})

export const revokeOwnKey = defineOperation({
  name: 'api_key.revoke',
  http: { method: 'DELETE', path: '/v1/api-keys/{api_key_id}' },
  summary: 'Revoke a secret key: it stops working everywhere within 5 seconds.',
  tag: 'Workspace',
  effect: 'delete',
  scope: manageScope,
  input: { path: z.object({ api_key_id: idInPath('api_key') }) },
  output: z.object({ id: z.int() }),
  problems: ['api_key_not_found'],
  async handle({ path: { api_key_id: id }, workspace, stores: { pg } }) {
    const revoked = await revokeApiKey(pg, id, { workspaceId: workspace.id, kind: 'api_key' })
    if (revoked === null) throw problem('api_key_not_found')
    return { id }
  },
})

export function serializeKey({ id, name, prefix, expires_at, revoked_at, last_used_at, created_at }: ListedApiKey) {
  return {
    id,
    name,
    prefix,
    created_at: created_at.toISOString(),
    expires_at: expires_at?.toISOString() ?? null,
    revoked_at: revoked_at?.toISOString() ?? null,
    last_used_at: last_used_at?.toISOString() ?? null,
  }
}

/** @throws Problem where no calendar has it, or it is over */
export function expiryOf(written: WrittenTime, timezone: string, now: number): Date {
  const loc = ['body', 'expires_at']
  const date = requireDate(written, timezone, loc)
  if (date.getTime() <= now) throw invalid([valueError(loc, written.sent, 'The time must lie in the future')])
  return date
}
