/** Sign-in links and the sessions of members' browsers. Tokens are never stored: only their SHA-256 to find them by. */
import { makeLinkToken, sha256Of } from '../../../schemas/keys.ts'
import {
  browserSessionMs,
  browserSessionsListedMax,
  sessionUseMs,
  signInLinkMs,
} from '../../../schemas/limits/api-limits.ts'
import { type Role, scopesOfRoles } from '../../../schemas/roles.ts'
import type { Queryable } from '../../client.ts'
import { type Authenticated, planOfMember, type Standing } from '../workspaces/api-keys.ts'
import { type PlanKey, type Workspace, workspaceColumns } from '../workspaces/workspaces.ts'
import { passwordHolders, startOrder } from './owner-passwords.ts'

/**
 * A link's token for the owner of a workspace: it can't be read again.
 * @param now milliseconds since 1970
 * @returns null where there is no such workspace
 */
export async function createSignInLink(q: Queryable, workspaceId: number, now: number): Promise<string | null> {
  const token = makeLinkToken()
  await q.query('DELETE FROM sign_in_links WHERE expires_at < to_timestamp($1::float8 / 1000)', [now])
  const made = await q.query(
    `INSERT INTO sign_in_links (hash, owner_id, workspace_id, expires_at)
     SELECT $1, owner_id, id, to_timestamp($3::float8 / 1000) FROM workspaces WHERE id = $2 RETURNING 1`,
    [sha256Of(token), workspaceId, now + signInLinkMs],
  )
  return made.length === 0 ? null : token
}

/** The browser that a session begins in. */
export interface ArrivingBrowser {
  /** For people to recognise it by; null: unknown. */
  readonly browser: string | null
  /** The token of the session that it had before, whoever's that was. */
  readonly before: string | undefined
}

/** Uses a link up and begins a session. @returns its token; null where the link is unknown, used or too old */
export async function signInByLink(
  tx: Queryable,
  linkToken: string,
  arriving: ArrivingBrowser,
  now: number,
): Promise<string | null> {
  // The account before its link, as where its password is changed: that ends the session, or the link is gone here.
  await tx.query('SELECT 1 FROM owners WHERE id = (SELECT owner_id FROM sign_in_links WHERE hash = $1) FOR SHARE', [
    sha256Of(linkToken),
  ])
  const [link] = await tx.query<{ owner_id: number; workspace_id: number; is_valid: boolean }>(
    `DELETE FROM sign_in_links WHERE hash = $1
     RETURNING owner_id, workspace_id, expires_at > to_timestamp($2::float8 / 1000) AS is_valid`,
    [sha256Of(linkToken), now],
  )
  if (link === undefined || !link.is_valid) return null
  return beginBrowserSession(tx, { ownerId: link.owner_id, workspaceId: link.workspace_id, ...arriving }, now)
}

/**
 * Ends the one that the browser had before: its cookie is replaced, so nobody could. Whoever calls has locked the account.
 * @param session begins in its workspace. If the account was removed from that meanwhile, it begins where a sign-in would
 * @returns the token of the new session
 */
export async function beginBrowserSession(
  tx: Queryable,
  session: ArrivingBrowser & { readonly ownerId: number; readonly workspaceId: number },
  now: number,
): Promise<string> {
  const token = makeLinkToken()
  const { ownerId, workspaceId, browser, before } = session
  if (before !== undefined) await endBrowserSession(tx, before)
  // Skips rows that somebody else is deleting: two who wait for each other's would never end.
  for (const table of ['browser_sessions', 'invitations']) {
    await tx.query(
      `DELETE FROM ${table} WHERE id IN (
         SELECT id FROM ${table} WHERE expires_at < to_timestamp($1::float8 / 1000) FOR UPDATE SKIP LOCKED)`,
      [now],
    )
  }
  // Waits for a deletion that has begun. Else the new row would come after sessions were moved out, and stay.
  await tx.query('SELECT 1 FROM workspaces WHERE id = $1 FOR KEY SHARE', [workspaceId])
  await tx.query(
    `INSERT INTO browser_sessions (hash, owner_id, workspace_id, browser, created_at, last_used_at, expires_at)
     VALUES ($1, $2, coalesce(
       (SELECT workspace_id FROM members WHERE workspace_id = $3 AND owner_id = $2),
       (SELECT w.id FROM ${passwordHolders} WHERE o.id = $2 ${startOrder}), $3), $4, $5, $5, $6)`,
    [sha256Of(token), ownerId, workspaceId, browser, new Date(now), new Date(now + browserSessionMs)],
  )
  return token
}

/**
 * The session that holds at a moment, with the scopes of the role in its workspace; null for none. Notes its use.
 * @param shown the workspace that the page shows: counts in place of the session's where its owner is a member
 */
export async function findBrowserSession(
  q: Queryable,
  token: string,
  now: number,
  shown?: number,
): Promise<Authenticated | null> {
  interface Row extends StandingRow {
    session_id: number
    session_owner: number
    email: string
    expires_at: Date
    last_used_at: Date | null
  }
  const [row] = await q.query<Row>(
    `SELECT s.id AS session_id, s.owner_id AS session_owner, so.email, s.expires_at, s.last_used_at, ${standingColumns}
     FROM browser_sessions s
     LEFT JOIN members shown ON shown.workspace_id = $3::int AND shown.owner_id = s.owner_id
     JOIN workspaces w ON w.id = coalesce(shown.workspace_id, s.workspace_id)
     JOIN owners o ON o.id = w.owner_id
     JOIN owners so ON so.id = s.owner_id
     LEFT JOIN members m ON m.workspace_id = w.id AND m.owner_id = s.owner_id
     WHERE s.hash = $1 AND s.expires_at > to_timestamp($2::float8 / 1000)`,
    [sha256Of(token), now, shown ?? null],
  )
  if (row === undefined) return null
  const { session_id, session_owner, email, expires_at, last_used_at, ...standing } = row
  // Seldom, so that looking at pages writes little.
  if (last_used_at === null || last_used_at.getTime() <= now - sessionUseMs) {
    await q.query('UPDATE browser_sessions SET last_used_at = $2 WHERE id = $1', [session_id, new Date(now)])
  }
  return {
    id: session_id,
    ownerId: session_owner,
    name: email,
    expiresAt: expires_at,
    ...standingOf(standing),
  }
}

/** How sessions of an account stand in each workspace that it is a member of, oldest first. Those being deleted have no members. */
export async function listStandings(q: Queryable, ownerId: number): Promise<Standing[]> {
  const rows = await q.query<StandingRow>(
    `SELECT ${standingColumns} FROM members m
     JOIN workspaces w ON w.id = m.workspace_id
     JOIN owners o ON o.id = w.owner_id
     JOIN owners so ON so.id = m.owner_id
     WHERE m.owner_id = $1 ORDER BY w.id`,
    [ownerId],
  )
  return rows.map(standingOf)
}

interface StandingRow extends Workspace {
  readonly session_plan: PlanKey | null
  readonly role: Role | null
  readonly has_factor: boolean
}

/** Names the account `so`, its membership `m`, the workspace `w` and its owner `o`. */
const standingColumns = `m.role, ${planOfMember('so')} AS session_plan,
  EXISTS (SELECT FROM second_factors f WHERE f.owner_id = so.id AND f.enabled_at IS NOT NULL) AS has_factor,
  ${workspaceColumns}`

function standingOf({ session_plan, role, has_factor, ...workspace }: StandingRow): Standing {
  return {
    actorType: 'user',
    scopes: role === null ? [] : [...scopesOfRoles[role]],
    plan_key: session_plan,
    isMember: role !== null,
    lacksFactor: workspace.second_factor_required && !has_factor,
    workspace,
  }
}

/** The session goes on in another workspace. @returns false where its owner is no member there */
export async function moveBrowserSession(q: Queryable, token: string, workspaceId: number): Promise<boolean> {
  const moved = await q.query(
    `UPDATE browser_sessions s SET workspace_id = m.workspace_id FROM members m
     WHERE s.hash = $1 AND m.owner_id = s.owner_id AND m.workspace_id = $2 RETURNING 1`,
    [sha256Of(token), workspaceId],
  )
  return moved.length > 0
}

export async function endBrowserSession(q: Queryable, token: string): Promise<void> {
  await q.query('DELETE FROM browser_sessions WHERE hash = $1', [sha256Of(token)])
}

export interface BrowserSession {
  readonly id: number
  readonly browser: string | null
  readonly createdAt: Date
  readonly lastUsedAt: Date | null
}

/** Those of an account that hold, the last used first. @param now milliseconds since 1970 */
export function listBrowserSessions(q: Queryable, ownerId: number, now: number): Promise<BrowserSession[]> {
  return q.query<BrowserSession>(
    `SELECT id, browser, created_at AS "createdAt", last_used_at AS "lastUsedAt" FROM browser_sessions
     WHERE owner_id = $1 AND expires_at > $2 ORDER BY last_used_at DESC NULLS LAST, id DESC LIMIT $3`,
    [ownerId, new Date(now), browserSessionsListedMax],
  )
}

/** Ends one session of an account, or all. @param which `but` goes on in any case; without an `id` all others end */
export async function endBrowserSessionsOf(
  q: Queryable,
  ownerId: number,
  { id, but }: { readonly id: number | undefined; readonly but: number },
): Promise<void> {
  await q.query('DELETE FROM browser_sessions WHERE owner_id = $1 AND id <> $2 AND ($3::bigint IS NULL OR id = $3)', [
    ownerId,
    but,
    id ?? null,
  ])
}
