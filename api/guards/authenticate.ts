/**
 * From the Authorization header to what is known of the key. Keys with a wrong checksum skip the look-up. Caches each
 * look-up for `apiKeyCacheMs`, so revoking takes seconds. Without Postgres an expired entry answers 503.
 *
 * Every bad key gets the same answer, whatever is wrong with it.
 */
import type { Queryable } from '../../postgres/client.ts'
import { findConnectedApp } from '../../postgres/tables/members/connected-apps.ts'
import { type Authenticated, findApiKey, touchApiKey } from '../../postgres/tables/workspaces/api-keys.ts'
import type { Clock } from '../../runtime/clock.ts'
import type { Log } from '../../runtime/log.ts'
import { problem } from '../../schemas/errors/problems.ts'
import { isWellFormedAccessToken, isWellFormedSecretKey, sha256Of } from '../../schemas/keys.ts'
import { apiKeyCacheMax, apiKeyCacheMs, apiKeyTouchMs } from '../../schemas/limits/api-limits.ts'

export interface Authenticator {
  /**
   * @param credential what it reads of the headers, if it was there
   * @throws Problem not_authenticated
   * @throws StoreUnavailable when the key can't be looked up
   */
  authenticate(credential: string | undefined): Promise<Authenticated>
  /**
   * Looks it up anew: it may have been revoked, or its role changed, since it was authenticated.
   * @throws as `authenticate`
   */
  authenticateAnew(credential: string | undefined, tx: Queryable): Promise<Authenticated>
}

interface LookUp {
  readonly found: Promise<Authenticated | null>
  readonly startedAt: number
}

/** RFC 9110, 11.4: one blank or more. */
const bearer = /^bearer +(\S+)$/i

type Find = typeof findApiKey
/** How a token is looked up; undefined: it has no shape that is accepted here. */
export type Accepted = (token: string) => Find | undefined

const acceptKeys: Accepted = (token) => (isWellFormedSecretKey(token) ? findApiKey : undefined)
/** Connected apps are for MCP alone. */
export const acceptKeysAndApps: Accepted = (token) =>
  isWellFormedAccessToken(token) ? findConnectedApp : acceptKeys(token)

export function makeAuthenticator(pg: Queryable, clock: Clock, log: Log, accepted = acceptKeys): Authenticator {
  const lookUps = new Map<string, LookUp>()
  const touchedAt = new Map<number, number>()

  function read(authorization = ''): Credential {
    const token = bearer.exec(authorization)?.[1]
    const find = token === undefined ? undefined : accepted(token)
    if (token === undefined || find === undefined) throw problem('not_authenticated')
    return { hash: sha256Of(token), find }
  }

  /** Requests with the same key share one look-up. The time counts from its start: what it reads may be that old. */
  function lookUp({ hash, find }: Credential): Promise<Authenticated | null> {
    const name = hash.toString('base64')
    const now = clock.now()
    const known = lookUps.get(name)
    if (known && Math.abs(now - known.startedAt) < apiKeyCacheMs) return known.found
    const found = find(pg, hash, new Date(now))
    const fresh: LookUp = { found, startedAt: now }
    setNewest(lookUps, name, fresh)
    found.catch(() => {
      if (lookUps.get(name) === fresh) lookUps.delete(name)
    })
    return found
  }

  /** Runs in the background. A failure to record the use doesn't affect the key. */
  function noteUse(id: number): void {
    const now = clock.now()
    const before = touchedAt.get(id)
    if (before !== undefined && Math.abs(now - before) < apiKeyTouchMs) return
    setNewest(touchedAt, id, now)
    touchApiKey(pg, id).catch((error) => log.warn({ err: error, apiKey: id }, "the key's use wasn't noted"))
  }

  return {
    async authenticate(authorization) {
      const found = valid(await lookUp(read(authorization)), clock.now())
      noteUse(found.id)
      return found
    },
    async authenticateAnew(authorization, tx) {
      const now = clock.now()
      const { hash, find } = read(authorization)
      return valid(await find(tx, hash, new Date(now)), now)
    },
  }
}

interface Credential {
  readonly hash: Buffer
  readonly find: Find
}

function valid(found: Authenticated | null, now: number): Authenticated {
  if (found === null) throw problem('not_authenticated')
  if (found.expiresAt !== null && found.expiresAt.getTime() <= now) throw problem('not_authenticated')
  return found
}

/** Bounded by dropping the oldest entry. */
function setNewest<Key, Value>(map: Map<Key, Value>, key: Key, value: Value): void {
  map.delete(key)
  map.set(key, value)
  if (map.size > apiKeyCacheMax) map.delete(map.keys().next().value!)
}
