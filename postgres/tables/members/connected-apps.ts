/**
 * Apps that members connected by OAuth. A connection is a row of `api_keys` without a secret: its scopes, its member, its end
 * and its last use are there. Codes and tokens are never stored, only their SHA-256.
 *
 *   consent: beginConnection, a code for a minute → exchangeCode → refreshConnection, again and again
 *
 * A row of `api_keys` is locked by whoever changes its connection. A second use of a code ends it: one of the two wasn't the
 * app's. So does a former refresh token. For a minute the last one gives the same tokens again, as its answer may have been
 * lost. Held by test/integration/oauth.test.ts.
 */
import { randomBytes } from 'node:crypto'
import { makeLinkToken, makeTokenFamily, nextTokens, type RefreshToken, sha256Of } from '../../../schemas/keys.ts'
import {
  accessTokenMs,
  appSweepMax,
  authorizationCodeMs,
  connectedAppsOfMemberMax,
  refreshRepeatMs,
  refreshTokenMs,
} from '../../../schemas/limits/oauth-limits.ts'
import type { Queryable } from '../../client.ts'
import { takeNamedLock } from '../../named-lock.ts'
import { type Authenticated, findLiveKey } from '../workspaces/api-keys.ts'
import { appendSystemChange } from '../workspaces/audit.ts'
import { lockWorkspace } from '../workspaces/workspaces.ts'
import { keepClient } from './oauth-clients.ts'

export interface Consent {
  readonly clientId: string
  readonly clientName: string
  readonly redirectUri: string
  /** By PKCE's S256. */
  readonly challenge: string
  readonly workspaceId: number
  readonly ownerId: number
  readonly scopes: readonly string[]
}

/** `answered`: the request was consented to before. `denied`: the account is no member by now. `forgotten`: the app was. */
export type ConsentRefusal = 'answered' | 'denied' | 'forgotten'

export interface BegunConnection {
  readonly id: number
  readonly code: string
  /** The member's connections that it ended, as there were too many. */
  readonly endedIds: readonly number[]
}

/** Run it in a transaction. @param now milliseconds since 1970 */
export async function beginConnection(
  tx: Queryable,
  { clientId, clientName, redirectUri, challenge, workspaceId, ownerId, scopes }: Consent,
  now: number,
): Promise<BegunConnection | ConsentRefusal> {
  await lockWorkspace(tx, workspaceId)
  const [member] = await tx.query('SELECT 1 FROM members WHERE workspace_id = $1 AND owner_id = $2', [
    workspaceId,
    ownerId,
  ])
  if (member === undefined) return 'denied'
  // Holding the workspace isn't enough: it may be consented to in another one at once.
  await takeNamedLock(tx, `consent ${clientId} ${challenge}`)
  const [answered] = await tx.query('SELECT 1 FROM connected_apps WHERE client_id = $1 AND code_challenge = $2', [
    clientId,
    challenge,
  ])
  if (answered !== undefined) return 'answered'
  // Before the connection: whoever looks for apps to forget doesn't see that yet.
  if (!(await keepClient(tx, clientId, { now, isConsented: true }))) return 'forgotten'
  // For a new connection alone: an answer that is sent again ends no other.
  const endedIds = await makeRoom(tx, workspaceId, ownerId, now)
  const code = makeLinkToken()
  const expiresAt = new Date(now + authorizationCodeMs)
  const [made] = await tx.query<{ id: number }>(
    `INSERT INTO api_keys (workspace_id, owner_id, name, prefix, scopes, expires_at)
     VALUES ($1, $2, $3, '', $4, $5) RETURNING id`,
    [workspaceId, ownerId, clientName, scopes, expiresAt],
  )
  await tx.query(
    `INSERT INTO connected_apps (api_key_id, client_id, redirect_uri, code_challenge, code_hash, code_expires_at)
     VALUES ($1, $2, $3, $4, $5, $6)`,
    [made!.id, clientId, redirectUri, challenge, sha256Of(code), expiresAt],
  )
  return { id: made!.id, code, endedIds }
}

/**
 * Deletes the member's connections that have ended, and those beyond the bound. One that is being refreshed stays until
 * the next time. Its refresh may wait for the app's row, which is held here.
 * @returns those beyond the bound
 */
async function makeRoom(tx: Queryable, workspaceId: number, ownerId: number, now: number): Promise<number[]> {
  const deleted = await tx.query<{ id: number; isLive: boolean }>(
    `DELETE FROM api_keys WHERE id IN (
       SELECT id FROM api_keys WHERE hash IS NULL AND workspace_id = $1 AND owner_id = $2 AND (
         revoked_at IS NOT NULL OR expires_at <= $3 OR id NOT IN (
           SELECT id FROM api_keys WHERE hash IS NULL AND workspace_id = $1 AND owner_id = $2
             AND revoked_at IS NULL AND expires_at > $3
           ORDER BY coalesce(last_used_at, created_at) DESC, id DESC LIMIT $4))
       FOR UPDATE SKIP LOCKED)
     RETURNING id, revoked_at IS NULL AND expires_at > $3 AS "isLive"`,
    [workspaceId, ownerId, new Date(now), connectedAppsOfMemberMax - 1],
  )
  return deleted.filter(({ isLive }) => isLive).map(({ id }) => id)
}

export interface IssuedTokens {
  readonly accessToken: string
  /** For how long the access token still works. */
  readonly accessMs: number
  readonly refreshToken: RefreshToken
  readonly scopes: string[]
}

/** `replayed`: it was used before, and the connection has ended by it. */
export type TokenRefusal = 'invalid' | 'replayed'

interface LockedConnection {
  readonly id: number
  readonly workspace_id: number
  readonly client_id: string
  readonly redirect_uri: string
  readonly code_challenge: string
  readonly code_expires_at: Date
  readonly exchanged_at: Date | null
  readonly turn_hash: Buffer | null
  readonly turn_salt: Buffer | null
  readonly access_expires_at: Date | null
  readonly scopes: string[]
  readonly expires_at: Date
  readonly revoked_at: Date | null
  readonly is_member: boolean
}

/** The part of a request for tokens that must fit its code. */
export interface CodeExchange {
  readonly code: string
  readonly clientId: string
  readonly redirectUri: string
  /** Computed from the verifier that the app sent. */
  readonly challenge: string
}

/** Run it in a transaction, and commit whatever comes of it. @param now milliseconds since 1970 */
export async function exchangeCode(
  tx: Queryable,
  { code, clientId, redirectUri, challenge }: CodeExchange,
  now: number,
): Promise<IssuedTokens | TokenRefusal> {
  const locked = await lockConnection(tx, 'code_hash', code)
  if (locked === null || locked.client_id !== clientId || locked.redirect_uri !== redirectUri) return 'invalid'
  if (locked.code_challenge !== challenge) return 'invalid'
  if (locked.exchanged_at !== null) return end(tx, locked, now)
  if (locked.code_expires_at.getTime() <= now || !isLive(locked, now)) return 'invalid'
  await tx.query('UPDATE connected_apps SET exchanged_at = $2 WHERE api_key_id = $1', [locked.id, new Date(now)])
  return issue(tx, locked, { family: makeTokenFamily(), turn: makeLinkToken() }, now)
}

/** Run it in a transaction, and commit whatever comes of it. @param now milliseconds since 1970 */
export async function refreshConnection(
  tx: Queryable,
  token: RefreshToken,
  clientId: string,
  now: number,
): Promise<IssuedTokens | TokenRefusal> {
  const locked = await lockConnection(tx, 'family_hash', token.family)
  if (locked === null || locked.client_id !== clientId || !isLive(locked, now)) return 'invalid'
  if (locked.turn_hash?.equals(sha256Of(token.turn)) === true) return issue(tx, locked, token, now)
  return issuedBefore(locked, token, now) ?? end(tx, locked, now)
}

/** The tokens that it gave moments ago, of which the app may not have got the answer; else null. */
function issuedBefore(locked: LockedConnection, { family, turn }: RefreshToken, now: number): IssuedTokens | null {
  const { turn_hash, turn_salt, access_expires_at, scopes } = locked
  if (turn_salt === null || access_expires_at === null) return null
  const accessMs = access_expires_at.getTime() - now
  if (accessMs <= accessTokenMs - refreshRepeatMs) return null
  const next = nextTokens(turn, turn_salt)
  if (turn_hash?.equals(sha256Of(next.turn)) !== true) return null
  return { accessToken: next.accessToken, accessMs, refreshToken: { family, turn: next.turn }, scopes }
}

/** Locks the connection's key until the end of the transaction. */
async function lockConnection(
  tx: Queryable,
  column: 'code_hash' | 'family_hash',
  secret: string,
): Promise<LockedConnection | null> {
  const [locked] = await tx.query<LockedConnection>(
    `SELECT k.id, k.workspace_id, a.client_id, a.redirect_uri, a.code_challenge, a.code_expires_at, a.exchanged_at,
            a.turn_hash, a.turn_salt, a.access_expires_at, k.scopes, k.expires_at, k.revoked_at, m.owner_id IS NOT NULL AS is_member
     FROM connected_apps a JOIN api_keys k ON k.id = a.api_key_id
     LEFT JOIN members m ON m.workspace_id = k.workspace_id AND m.owner_id = k.owner_id
     WHERE a.${column} = $1 FOR UPDATE OF k, a`,
    [sha256Of(secret)],
  )
  return locked ?? null
}

function isLive({ is_member, revoked_at, expires_at }: LockedConnection, now: number): boolean {
  return is_member && revoked_at === null && expires_at.getTime() > now
}

/** The audit log tells the members why their app is signed out. */
async function end(tx: Queryable, locked: LockedConnection, now: number): Promise<'replayed'> {
  if (!isLive(locked, now)) return 'replayed'
  const { id, workspace_id: workspaceId } = locked
  await tx.query('UPDATE api_keys SET revoked_at = now() WHERE id = $1', [id])
  const change = { actorName: 'api', action: 'connected_app.end_reused', resourceId: id, metadata: {} } as const
  await appendSystemChange(tx, { ...change, workspaceId })
  return 'replayed'
}

/** The tokens before stop working. The refresh token that is given is used up. */
async function issue(
  tx: Queryable,
  locked: LockedConnection,
  { family, turn }: RefreshToken,
  now: number,
): Promise<IssuedTokens> {
  const salt = randomBytes(32)
  const next = nextTokens(turn, salt)
  await tx.query(
    `UPDATE connected_apps
     SET family_hash = $2, turn_hash = $3, turn_salt = $4, access_hash = $5, access_expires_at = $6 WHERE api_key_id = $1`,
    [locked.id, sha256Of(family), sha256Of(next.turn), salt, sha256Of(next.accessToken), new Date(now + accessTokenMs)],
  )
  await tx.query('UPDATE api_keys SET expires_at = $2 WHERE id = $1', [locked.id, new Date(now + refreshTokenMs)])
  await keepClient(tx, locked.client_id, { now, isConsented: false })
  const refreshToken = { family, turn: next.turn }
  return { accessToken: next.accessToken, accessMs: accessTokenMs, refreshToken, scopes: locked.scopes }
}

/** The connection that an access token is of, as a key; as `findApiKey`. */
export function findConnectedApp(q: Queryable, sha256: Buffer, at: Date): Promise<Authenticated | null> {
  const joined = 'JOIN connected_apps a ON a.api_key_id = k.id'
  return findLiveKey(q, { joined, hash: 'a.access_hash', expiresAt: 'a.access_expires_at' }, sha256, at)
}

interface TokenToEnd {
  readonly clientId: string
  readonly accessToken: string | undefined
  /** The part of a refresh token that stays. */
  readonly family: string | undefined
}

/** Ends the connection that a token is of, whatever became of the token since. The audit log tells the members of it. */
export async function endByToken(tx: Queryable, { clientId, accessToken, family }: TokenToEnd): Promise<void> {
  const [ended] = await tx.query<{ id: number; workspaceId: number }>(
    `UPDATE api_keys k SET revoked_at = now() FROM connected_apps a
     WHERE a.api_key_id = k.id AND k.revoked_at IS NULL AND a.client_id = $1 AND (a.access_hash = $2 OR a.family_hash = $3)
     RETURNING k.id, k.workspace_id AS "workspaceId"`,
    [
      clientId,
      accessToken === undefined ? null : sha256Of(accessToken),
      family === undefined ? null : sha256Of(family),
    ],
  )
  if (ended === undefined) return
  const { id: resourceId, workspaceId } = ended
  const change = { actorName: 'api', action: 'connected_app.sign_out', resourceId, metadata: {} } as const
  await appendSystemChange(tx, { ...change, workspaceId })
}

export interface ConnectedApp {
  readonly id: number
  readonly name: string
  readonly redirect_uri: string
  readonly member: string
  readonly scopes: string[]
  readonly last_used_at: Date | null
  readonly created_at: Date
}

/** Those that have tokens, newest first. @param ownerId the member whose they are; all of the workspace when left out */
export function listConnectedApps(
  q: Queryable,
  { workspaceId, ownerId, at, max }: { workspaceId: number; ownerId: number | undefined; at: Date; max: number },
): Promise<ConnectedApp[]> {
  return q.query<ConnectedApp>(
    `SELECT k.id, k.name, a.redirect_uri, o.email AS member, k.scopes, k.last_used_at, k.created_at
     FROM api_keys k JOIN connected_apps a ON a.api_key_id = k.id JOIN owners o ON o.id = k.owner_id
     WHERE k.workspace_id = $1 AND ($2::bigint IS NULL OR k.owner_id = $2) AND a.exchanged_at IS NOT NULL
       AND k.revoked_at IS NULL AND k.expires_at > $3 ORDER BY k.id DESC LIMIT $4`,
    [workspaceId, ownerId ?? null, at, max],
  )
}

/** Deletes some of those that have ended, but for one that is renewed just now. @returns how many */
export async function deleteEndedApps(q: Queryable, at: Date): Promise<number> {
  const isEnded = '(revoked_at IS NOT NULL OR expires_at <= $1)'
  const deleted = await q.query(
    `DELETE FROM api_keys WHERE id IN (SELECT id FROM api_keys WHERE hash IS NULL AND ${isEnded} LIMIT ${appSweepMax})
       AND ${isEnded} RETURNING 1`,
    [at],
  )
  return deleted.length
}
