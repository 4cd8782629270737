/**
 * Every password that somebody sends passes here: tries of an address and of an e-mail are bounded, and so are comparisons at once.
 * A browser that signed in with the e-mail before has tries of its own in place of the e-mail's.
 */
import type { HttpReply } from '../../runtime/http/reply.ts'
import type { HttpRequest } from '../../runtime/http/server.ts'
import type { TrustedProxies } from '../../runtime/http/trusted-proxy.ts'
import { passwordChecksMax } from '../../schemas/limits/api-limits.ts'
import type { SignInLimiter } from '../guards/rate-limit.ts'
import { addressOf } from '../transports/rest.ts'
import type { KnownBrowsers } from './known-browsers.ts'

interface GatedPassword {
  /** In lower case. */
  readonly email: string
  /** Counted apart, so that no stranger's questions for links keep the e-mail's owner from signing in, nor the other way round. */
  readonly apart?: 'forgot' | 'reset'
  /** Compares or hashes a password. A right one leads on, by 303. */
  pass(): Promise<HttpReply>
  /** The page of a try too many. */
  refuse(): HttpReply
}

export type PasswordGate = (request: HttpRequest, gated: GatedPassword) => Promise<HttpReply>

/** A moment later a check is over. */
const busyRetryMs = 1_000

interface GateOptions {
  readonly signInLimiter: SignInLimiter
  readonly proxies: TrustedProxies
  readonly knownBrowsers: KnownBrowsers
}

export function makePasswordGate({ signInLimiter, proxies, knownBrowsers }: GateOptions): PasswordGate {
  let checks = 0
  return async (request, { email, apart, pass, refuse }) => {
    const address = addressOf(request, { proxies })
    const tried =
      apart === undefined
        ? { address, email, knownBrowser: knownBrowsers.idOf(request.headers.get('cookie'), email) }
        : { address, email: `${apart} ${email}` }
    const waitMs = await signInLimiter.take(tried)
    if (waitMs > 0) return retryIn(waitMs, refuse())
    if (checks >= passwordChecksMax) {
      await signInLimiter.giveAllBack(tried)
      return retryIn(busyRetryMs, refuse())
    }
    checks += 1
    try {
      const reply = await pass()
      if (reply.status === 303) await signInLimiter.giveBack(address)
      return reply
    } catch (error) {
      // A store was away, before the comparison or after a right password. A wrong one never ends here.
      await signInLimiter.giveAllBack(tried)
      throw error
    } finally {
      checks -= 1
    }
  }
}

/** @returns the page, with the time to wait */
export function retryIn(waitMs: number, page: HttpReply): HttpReply {
  return { ...page, headers: { ...page.headers, 'Retry-After': String(Math.max(1, Math.ceil(waitMs / 1000))) } }
}
