/**
 * Browsers that signed in with an e-mail before, known by a cookie under an HMAC. It opens nothing. Its browser has tries of its
 * own, so strangers who use up those of the e-mail don't lock its owner out. Held by test/integration/owner-password.test.ts.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto'
import type { Clock } from '../../runtime/clock.ts'
import type { KeyedHash } from '../../runtime/crypto/keyed-hash.ts'
import { knownBrowserMs } from '../../schemas/limits/api-limits.ts'
import { cookieValue, setCookie } from './cookies.ts'

export interface KnownBrowsers {
  /** The id of the browser; undefined where it didn't sign in with this e-mail, or too long ago. @param email in lower case */
  idOf(cookies: string | undefined, email: string): string | undefined
  /** `Set-Cookie` for a browser that signed in just now. */
  cookieFor(email: string): string
}

interface KnownBrowsersOptions {
  readonly hash: KeyedHash
  readonly clock: Clock
  isSecure(): boolean
}

const cookieName = 'svc_browser'
/** A random id, when the cookie ends in seconds since 1970, and the hash of both for the e-mail. */
const shape = /^([\w-]{22})\.(\d{1,12})\.([0-9a-f]{32})$/

export function makeKnownBrowsers({ hash, clock, isSecure }: KnownBrowsersOptions): KnownBrowsers {
  return {
    idOf(cookies, email) {
      const [, id, endsAt, mac] = shape.exec(cookieValue(cookies, cookieName) ?? '') ?? []
      if (id === undefined || Number(endsAt) * 1000 <= clock.now()) return undefined
      const isOurs = timingSafeEqual(Buffer.from(mac!), Buffer.from(hash(email, `${id}.${endsAt}`)))
      return isOurs ? id : undefined
    },
    cookieFor(email) {
      const named = `${randomBytes(16).toString('base64url')}.${Math.floor((clock.now() + knownBrowserMs) / 1000)}`
      return setCookie({
        name: cookieName,
        value: `${named}.${hash(email, named)}`,
        path: '/dashboard',
        lastsMs: knownBrowserMs,
        sameSite: 'Lax',
        isSecure: isSecure(),
      })
    },
  }
}
