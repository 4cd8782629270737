/** Every password that somebody sends passes here: tries of an address and of an e-mail are bounded, and so are comparisons at once. */
import type { HttpReply } from '../../runtime/http/reply.ts'
import type { HttpRequest } from '../../runtime/http/server.ts'
import type { TrustedProxies } from '../../runtime/http/trusted-proxy.ts'
import { passwordChecksMax } from '../../schemas/limits/api-limits.ts'
import type { SignInLimiter } from '../guards/rate-limit.ts'
import { addressOf } from '../transports/rest.ts'

export interface GatedPassword {
  /** In lower case. */
  readonly email: string
  /** Compares or hashes a password. A right one leads on, by 303. */
  pass(): Promise<HttpReply>
  /** The page of a try too many. */
  refuse(): HttpReply
}

export type PasswordGate = (request: HttpRequest, gated: GatedPassword) => Promise<HttpReply>

/** A moment later a check is over. */
const busyRetryMs = 1_000

export function makePasswordGate(signInLimiter: SignInLimiter, proxies: TrustedProxies): PasswordGate {
  let checks = 0
  return async (request, { email, pass, refuse }) => {
    const address = addressOf(request, { proxies })
    const waitMs = await signInLimiter.take(address, email)
    if (waitMs > 0) return retryIn(waitMs, refuse())
    if (checks >= passwordChecksMax) return retryIn(busyRetryMs, refuse())
    checks += 1
    try {
      const reply = await pass()
      if (reply.status === 303) await signInLimiter.giveBack(address)
      return reply
    } finally {
      checks -= 1
    }
  }
}

function retryIn(waitMs: number, page: HttpReply): HttpReply {
  return { ...page, headers: { ...page.headers, 'Retry-After': String(Math.max(1, Math.ceil(waitMs / 1000))) } }
}
