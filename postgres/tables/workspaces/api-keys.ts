/**
 * Secret keys. The key itself is never stored: only its SHA-256 to find it by and a prefix to recognise it by. A shared link of
 * the dashboard is a key too, whose one scope is `viewScope`. So is a connected app, which has tokens in place of a secret
 * (connected-apps.ts).
 */
import { makeSecretKey, makeSharedToken, secretKeyPrefix, sha256Of } from '../../../schemas/keys.ts'
import { type Role, scopesOfRoles } from '../../../schemas/roles.ts'
import { publishScope, viewScope } from '../../../schemas/scopes.ts'
import type { Queryable } from '../../client.ts'
import { type PlanKey, type Workspace, workspaceColumns } from './workspaces.ts'

/** As audit rows name them. */
export type KeyKind = 'api_key' | 'shared_link' | 'connected_app'

export interface NewApiKey {
  readonly workspaceId: number
  /** The workspace's owner when left out. */
  readonly ownerId?: number | undefined
  readonly name: string
  readonly scopes: readonly string[]
  readonly expiresAt?: Date | null | undefined
}

/** All that the chain of checks needs to know of a key, or of a browser's session, in one look-up. */
export interface Authenticated {
  readonly actorType: 'api_key' | 'user'
  readonly id: number
  readonly ownerId: number
  readonly name: string
  readonly scopes: string[]
  readonly expiresAt: Date | null
  /** The plan of the key's owner, or of the workspace's where the key's is a member of another role: null answers 402. */
  readonly plan_key: PlanKey | null
  /** Whether the key's owner is still a member of the workspace. */
  readonly isMember: boolean
  /** A session's account has no second factor, and the workspace requires one. */
  readonly lacksFactor: boolean
  readonly workspace: Workspace
}

/** The part that the refusals of a workspace depend on. */
export type Standing = Pick<
  Authenticated,
  'actorType' | 'scopes' | 'plan_key' | 'isMember' | 'lacksFactor' | 'workspace'
>

export interface ListedApiKey {
  readonly id: number
  readonly kind: KeyKind
  readonly workspace_id: number
  readonly name: string
  readonly prefix: string
  readonly scopes: string[]
  readonly expires_at: Date | null
  readonly revoked_at: Date | null
  readonly last_used_at: Date | null
  readonly created_at: Date
}

/**
 * Makes a key, or with `viewScope` a shared link. `apiKey` is in the answer and nowhere else: it can't be read again.
 * @returns null when there is no such workspace
 */
export async function createApiKey(
  tx: Queryable,
  { workspaceId, ownerId, name, scopes, expiresAt }: NewApiKey,
): Promise<{ id: number; apiKey: string; prefix: string; scopes: string[] } | null> {
  const apiKey = scopes.includes(viewScope) ? makeSharedToken() : makeSecretKey()
  const prefix = secretKeyPrefix(apiKey)
  const [made] = await tx.query<{ id: number }>(
    `INSERT INTO api_keys (workspace_id, owner_id, name, prefix, hash, scopes, expires_at)
     SELECT id, coalesce($2::bigint, owner_id), $3, $4, $5, $6, $7 FROM workspaces WHERE id = $1 RETURNING id`,
    [workspaceId, ownerId ?? null, name, prefix, sha256Of(apiKey), scopes, expiresAt ?? null],
  )
  return made === undefined ? null : { id: made.id, apiKey, prefix, scopes: [...scopes] }
}

/**
 * The key with this SHA-256 that holds at a moment. One that is revoked or has expired isn't found: Postgres does hardly more
 * for it than for one that never was, so that the time of an answer doesn't tell them apart.
 */
export function findApiKey(q: Queryable, sha256: Buffer, at: Date): Promise<Authenticated | null> {
  return findLiveKey(q, { joined: '', hash: 'k.hash', expiresAt: 'k.expires_at' }, sha256, at)
}

/** How the row of a key is found: names in SQL. */
interface FoundBy {
  /** Joins of another table. */
  readonly joined: string
  readonly hash: string
  /** When the secret itself expires. */
  readonly expiresAt: string
}

/** As `findApiKey`, by the hash of any secret. */
export async function findLiveKey(
  q: Queryable,
  { joined, hash, expiresAt }: FoundBy,
  sha256: Buffer,
  at: Date,
): Promise<Authenticated | null> {
  interface Row extends Workspace {
    key_id: number
    owner_id: number
    key_name: string
    scopes: string[]
    expires_at: Date | null
    key_plan: PlanKey | null
    role: Role | null
  }
  const [row] = await q.query<Row>(
    `SELECT k.id AS key_id, k.owner_id, k.name AS key_name, k.scopes, ${expiresAt} AS expires_at,
            ${planOfMember('ko')} AS key_plan, m.role, ${workspaceColumns}
     FROM api_keys k ${joined}
     JOIN workspaces w ON w.id = k.workspace_id
     JOIN owners o ON o.id = w.owner_id
     JOIN owners ko ON ko.id = k.owner_id
     LEFT JOIN members m ON m.workspace_id = k.workspace_id AND m.owner_id = k.owner_id
     WHERE ${hash} = $1 AND k.revoked_at IS NULL AND (${expiresAt} IS NULL OR ${expiresAt} > $2)`,
    [sha256, at],
  )
  if (row === undefined) return null
  const { key_id, owner_id, key_name, scopes, expires_at, key_plan, role, ...workspace } = row
  return {
    actorType: 'api_key',
    id: key_id,
    ownerId: owner_id,
    name: key_name,
    scopes: role === null ? scopes : heldBy(role, scopes),
    expiresAt: expires_at,
    plan_key: key_plan,
    isMember: role !== null,
    lacksFactor: false,
    workspace,
  }
}

/** A key may no more than its maker, who may have got a lower role since. A shared link shows what every role reads. */
function heldBy(role: Role, scopes: readonly string[]): string[] {
  const ofRole: readonly string[] = scopesOfRoles[role]
  const all = scopes.includes('posts:write') ? [...scopes, publishScope] : scopes
  return all.filter((scope) => scope === viewScope || ofRole.includes(scope))
}

/** SQL of the plan that somebody lives by, an owner in the table named, as member `m` of the workspace of owner `o`. */
export function planOfMember(account: string): string {
  return `CASE WHEN m.role <> 'owner' THEN o.plan_key ELSE ${account}.plan_key END`
}

interface ListOptions {
  /** Both when left out. */
  readonly kind?: KeyKind
  /** All when left out. */
  readonly max?: number
}

/** Those that work or will first, then the revoked and expired; each newest first. */
export async function listApiKeys(
  q: Queryable,
  workspaceId: number,
  { kind, max }: ListOptions = {},
): Promise<ListedApiKey[]> {
  return q.query<ListedApiKey>(
    `SELECT id, ${kindOfKey} AS kind, workspace_id, name, prefix, scopes, expires_at, revoked_at, last_used_at, created_at
     FROM api_keys WHERE workspace_id = $1 AND ${isOfKind('$3')}
     ORDER BY revoked_at IS NULL AND coalesce(expires_at > now(), true) DESC, id DESC LIMIT $2`,
    [workspaceId, max ?? null, kind ?? null],
  )
}

/** Number of keys of the kind that are neither revoked nor expired. */
export async function countLiveKeys(q: Queryable, workspaceId: number, kind: KeyKind, at: Date): Promise<number> {
  const [counted] = await q.query<{ live: number }>(
    `SELECT count(*)::int AS live FROM api_keys
     WHERE workspace_id = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $3) AND ${isOfKind('$2')}`,
    [workspaceId, kind, at],
  )
  return counted!.live
}

export interface RevokedApiKey {
  readonly kind: KeyKind
  readonly workspaceId: number
  readonly revokedAt: Date
  /** It wasn't revoked before. */
  readonly isNew: boolean
}

/**
 * Revokes a key; again is no error and keeps the first time.
 * @param of the workspace, the kind and the member that it must be of; of any when left out
 * @returns null when there is no such key
 */
export async function revokeApiKey(
  q: Queryable,
  id: number,
  of: { readonly workspaceId?: number; readonly kind?: KeyKind; readonly ownerId?: number | undefined } = {},
): Promise<RevokedApiKey | null> {
  const [revoked] = await q.query<RevokedApiKey>(
    `UPDATE api_keys k SET revoked_at = coalesce(k.revoked_at, now())
     FROM (SELECT id, revoked_at FROM api_keys
           WHERE id = $1 AND ($2::int IS NULL OR workspace_id = $2) AND ${isOfKind('$3')}
             AND ($4::bigint IS NULL OR owner_id = $4) FOR UPDATE) before
     WHERE k.id = before.id
     RETURNING ${kindOfKey} AS kind, k.workspace_id AS "workspaceId", k.revoked_at AS "revokedAt", before.revoked_at IS NULL AS "isNew"`,
    [id, of.workspaceId ?? null, of.kind ?? null, of.ownerId ?? null],
  )
  return revoked ?? null
}

/** Notes that a key was used, at most once a minute however often it is called. */
export async function touchApiKey(q: Queryable, id: number): Promise<void> {
  await q.query(
    `UPDATE api_keys SET last_used_at = now()
     WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < now() - interval '1 minute')`,
    [id],
  )
}

/** SQL of a row's kind. A connected app has no secret of its own. */
const kindOfKey = `CASE WHEN hash IS NULL THEN 'connected_app' WHEN '${viewScope}' = ANY(scopes) THEN 'shared_link' ELSE 'api_key' END`

/** SQL condition of `api_keys`: it is of the kind in a parameter, or that is NULL. */
function isOfKind(parameter: string): string {
  return `(${parameter}::text IS NULL OR ${kindOfKey} = ${parameter})`
}
