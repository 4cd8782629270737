/** Signs an owner's browser in: by a link on this machine, or by e-mail and password from anywhere. */
import { isIP } from 'node:net'
import type { Postgres } from '../../postgres/client.ts'
import { findOwnerPassword } from '../../postgres/tables/owner-passwords.ts'
import { beginBrowserSession, signInByLink } from '../../postgres/tables/owner-sessions.ts'
import type { Clock } from '../../runtime/clock.ts'
import { isPasswordOf } from '../../runtime/crypto/password.ts'
import type { RequestHead } from '../../runtime/http/head.ts'
import type { HttpReply } from '../../runtime/http/reply.ts'
import type { HttpRequest } from '../../runtime/http/server.ts'
import type { TrustedProxies } from '../../runtime/http/trusted-proxy.ts'
import { passwordChecksMax, passwordLengthMax } from '../../schemas/limits/api-limits.ts'
import { identifierLengthMax } from '../../schemas/limits/event-limits.ts'
import type { SignInLimiter } from '../guards/rate-limit.ts'
import { addressOf, problemReply } from '../transports/rest.ts'
import { signInPage } from './pages.ts'
import { isFromOwnPage, sessionCookie } from './session.ts'

export const signInPath = '/dashboard/sign-in'

interface SignInOptions {
  readonly pg: Pick<Postgres, 'query' | 'transaction'>
  readonly signInLimiter: SignInLimiter
  readonly clock: Clock
  readonly proxies: TrustedProxies
  isSecure(): boolean
}

/** A moment later a check is over. */
const busyRetryMs = 1_000

export function makeSignIn({ pg, signInLimiter, clock, proxies, isSecure }: SignInOptions) {
  let checks = 0

  /** Links work only for requests to this machine's own address, a tunnel included. */
  async function byLink(head: RequestHead): Promise<HttpReply> {
    const token = new URLSearchParams(head.query).get('token')
    // The link works once: whoever only looks where it leads doesn't use it up.
    if (token === null || head.method === 'HEAD') return signInPage(200)
    if (!isLoopback(addressOf(head, { proxies }))) return signInPage(403)
    const session = await pg.transaction((tx) => signInByLink(tx, token, clock.now()))
    return session === null ? signInPage(410) : begun(session)
  }

  /** Neither the answer nor its timing reveals whether the e-mail exists. */
  async function byPassword(request: HttpRequest): Promise<HttpReply> {
    if (!isFromOwnPage(request)) return problemReply('workspace_access_denied')
    const form = new URLSearchParams(request.body.toString())
    const email = (form.get('email') ?? '').trim().toLowerCase()
    const password = form.get('password') ?? ''
    if (email.length > identifierLengthMax || [...password].length > passwordLengthMax) return signInPage(401)
    const waitMs = await signInLimiter.take(addressOf(request, { proxies }), email)
    if (waitMs > 0) return tooMany(waitMs)
    if (checks >= passwordChecksMax) return tooMany(busyRetryMs)
    checks += 1
    try {
      const found = await findOwnerPassword(pg, email)
      if (!(await isPasswordOf(password, found?.hash)) || found === null) return signInPage(401)
      return begun(await pg.transaction((tx) => beginBrowserSession(tx, found, clock.now())))
    } finally {
      checks -= 1
    }
  }

  function begun(session: string): HttpReply {
    return redirect('/dashboard', { 'Set-Cookie': sessionCookie(session, isSecure()) })
  }

  return { byLink, byPassword }
}

/** After a form, a browser asks for the page with GET. */
export function redirect(location: string, headers: Record<string, string> = {}): HttpReply {
  return { status: 303, headers: { Location: location, 'Cache-Control': 'no-store', ...headers } }
}

function tooMany(waitMs: number): HttpReply {
  const page = signInPage(429)
  return { ...page, headers: { ...page.headers, 'Retry-After': String(Math.max(1, Math.ceil(waitMs / 1000))) } }
}

function isLoopback(address: string): boolean {
  const bare = address.replace(/^::ffff:/, '')
  return bare === '::1' || (isIP(bare) === 4 && bare.startsWith('127.'))
}
