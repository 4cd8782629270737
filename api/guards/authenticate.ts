/**
 * From the Authorization header to what is known of the key. Keys with a wrong checksum skip the look-up. Caches each
 * look-up for `apiKeyCacheMs`, so revoking takes seconds. Without Postgres an expired entry answers 503.
 *
 * Every bad key gets the same answer, whatever is wrong with it.
 */
import type { Queryable } from '../../postgres/client.ts'
import { type Authenticated, findApiKey, touchApiKey } from '../../postgres/tables/api-keys.ts'
import type { Clock } from '../../runtime/clock.ts'
import type { Log } from '../../runtime/log.ts'
import { problem } from '../../schemas/errors/problems.ts'
import { isWellFormedSecretKey, sha256Of } from '../../schemas/keys.ts'
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

const bearer = /^bearer (\S+)$/i

export function makeAuthenticator(pg: Queryable, clock: Clock, log: Log): Authenticator {
  const lookUps = new Map<string, LookUp>()
  const touchedAt = new Map<number, number>()

  /** Requests with the same key share one look-up. The time counts from its start: what it reads may be that old. */
  function lookUp(hash: Buffer): Promise<Authenticated | null> {
    const name = hash.toString('base64')
    const now = clock.now()
    const known = lookUps.get(name)
    if (known && Math.abs(now - known.startedAt) < apiKeyCacheMs) return known.found
    const found = findApiKey(pg, hash, new Date(now))
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
      const found = valid(await lookUp(hashOf(authorization)), clock.now())
      noteUse(found.id)
      return found
    },
    async authenticateAnew(authorization, tx) {
      const now = clock.now()
      return valid(await findApiKey(tx, hashOf(authorization), new Date(now)), now)
    },
  }
}

function hashOf(authorization = ''): Buffer {
  const key = bearer.exec(authorization)?.[1]
  if (key === undefined || !isWellFormedSecretKey(key)) throw problem('not_authenticated')
  return sha256Of(key)
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
