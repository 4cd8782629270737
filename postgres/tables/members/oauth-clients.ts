/** Apps that registered themselves for OAuth (RFC 7591). Anybody may register: a row says nothing of who did. */
import { isLinkToken, makeLinkToken } from '../../../schemas/keys.ts'
import { appSweepMax, clientKeptMs, clientsMax, clientUnusedMs } from '../../../schemas/limits/oauth-limits.ts'
import type { Queryable } from '../../client.ts'
import { takeNamedLock } from '../../named-lock.ts'

export interface OAuthClient {
  readonly id: string
  /** Chosen by whoever registered it. */
  readonly name: string
  readonly redirectUris: readonly string[]
}

/**
 * Where there are as many as are kept, the oldest that nobody consented to goes, or else one that has no connection any more: a
 * member could consent to any number. Run it in a transaction.
 * @param now milliseconds since 1970
 * @returns null where all have connections
 */
export async function registerClient(
  tx: Queryable,
  { name, redirectUris }: Omit<OAuthClient, 'id'>,
  now: number,
): Promise<OAuthClient | null> {
  await takeNamedLock(tx, 'registrations of apps')
  await deleteExpiredClients(tx, new Date(now))
  const isUnused = 'NOT EXISTS (SELECT 1 FROM connected_apps WHERE client_id = c.id)'
  const [unused] = await tx.query<{ id: string }>(
    `SELECT id FROM oauth_clients c WHERE (SELECT count(*) FROM oauth_clients) >= $1 AND ${isUnused}
     ORDER BY consented_at IS NOT NULL, expires_at LIMIT 1 FOR UPDATE SKIP LOCKED`,
    [clientsMax],
  )
  // A statement of its own: it sees a connection that was made while the other one looked.
  await tx.query(`DELETE FROM oauth_clients c WHERE id = $1 AND ${isUnused}`, [unused?.id ?? null])
  const id = makeLinkToken()
  const made = await tx.query(
    `INSERT INTO oauth_clients (id, name, redirect_uris, created_at, expires_at)
     SELECT $1, $2, $3, $4, $5 WHERE (SELECT count(*) FROM oauth_clients) < $6 RETURNING 1`,
    [id, name, redirectUris, new Date(now), new Date(now + clientUnusedMs), clientsMax],
  )
  return made.length === 0 ? null : { id, name, redirectUris }
}

/** Null for none, or one whose time is over. */
export async function findClient(q: Queryable, id: string, at: Date): Promise<OAuthClient | null> {
  if (!isLinkToken(id)) return null
  const [found] = await q.query<OAuthClient>(
    'SELECT id, name, redirect_uris AS "redirectUris" FROM oauth_clients WHERE id = $1 AND expires_at > $2',
    [id, at],
  )
  return found ?? null
}

/** Somebody consented to it, or it got tokens: its time begins anew. @returns false where there is none */
export async function keepClient(
  tx: Queryable,
  id: string,
  { now, isConsented }: { readonly now: number; readonly isConsented: boolean },
): Promise<boolean> {
  const kept = await tx.query(
    `UPDATE oauth_clients SET expires_at = $2, consented_at = CASE WHEN $3 THEN $4 ELSE consented_at END
     WHERE id = $1 RETURNING 1`,
    [id, new Date(now + clientKeptMs), isConsented, new Date(now)],
  )
  return kept.length > 0
}

/** Deletes some of those whose time is over, but for one that is renewed just now. @returns how many */
export async function deleteExpiredClients(q: Queryable, at: Date): Promise<number> {
  const deleted = await q.query(
    `DELETE FROM oauth_clients WHERE id IN (SELECT id FROM oauth_clients WHERE expires_at <= $1 LIMIT ${appSweepMax})
       AND expires_at <= $1 RETURNING 1`,
    [at],
  )
  return deleted.length
}
