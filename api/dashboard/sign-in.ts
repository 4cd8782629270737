/** Signs a member's browser in: by a link on this machine, or by e-mail and password from anywhere. */
import { findOwnerPassword, lockPassword } from '../../postgres/tables/members/owner-passwords.ts'
import { beginBrowserSession, signInByLink } from '../../postgres/tables/members/owner-sessions.ts'
import { isSecondFactorOn } from '../../postgres/tables/members/second-factors.ts'
import { beginSignInStep } from '../../postgres/tables/members/sign-in-steps.ts'
import { isPasswordOf } from '../../runtime/crypto/password.ts'
import type { RequestHead } from '../../runtime/http/head.ts'
import type { HttpReply } from '../../runtime/http/reply.ts'
import type { HttpRequest } from '../../runtime/http/server.ts'
import type { TrustedProxies } from '../../runtime/http/trusted-proxy.ts'
import { isLoopback } from '../../runtime/loopback.ts'
import { passwordLengthMax, signInNextLengthMax } from '../../schemas/limits/api-limits.ts'
import { identifierLengthMax } from '../../schemas/limits/event-limits.ts'
import { inWorkspaceOf } from '../../schemas/workspace-address.ts'
import { addressOf } from '../transports/rest.ts'
import type { PageContext } from './page-context.ts'
import { signInPage } from './pages.ts'
import { codePath, stepCookie } from './second-factor/step-cookie.ts'
import { arrivingBrowser, sessionCookie } from './session.ts'

export const signInPath = '/dashboard/sign-in'

interface SignInContext extends PageContext {
  readonly proxies: TrustedProxies
  isMailSetUp(): boolean
  apiHost(): string
}

/** A page of the dashboard: one path below it, and a query. Without `//`, backslash or control character it is of no other site. */
const ownPage = /^\/dashboard(?:\/[\w-]+)*(?:\?[\x21-\x5b\x5d-\x7e]*)?$/

export function addressIn({ path, query }: Pick<RequestHead, 'path' | 'query'>): string {
  return query === '' ? path : `${path}?${query}`
}

/** The address that signs in, and then leads to the page that was asked for. */
export function signInFor(head: Pick<RequestHead, 'path' | 'query'>): string {
  return leadingOn(signInPath, addressIn(head))
}

/** The same for a page of the account, of whose query the workspace alone counts. */
export function signInForAccount(path: string, { query }: Pick<RequestHead, 'query'>): string {
  return leadingOn(signInPath, inWorkspaceOf(query, path))
}

/** The address of a page that leads on to another one of the dashboard. */
export function leadingOn(path: string, asked: string): string {
  return pageAfter(asked) === '/dashboard' ? path : `${path}?${new URLSearchParams({ next: asked })}`
}

/** The page that a sign-in leads to: a page of the dashboard, whatever was asked for. */
export function pageAfter(next: string | null): string {
  return next !== null && next.length <= signInNextLengthMax && ownPage.test(next) ? next : '/dashboard'
}

export function makeSignIn(context: SignInContext) {
  const { pg, gate, clock, proxies, knownBrowsers, isSecure, isMailSetUp, apiHost } = context

  function page(state: Parameters<typeof signInPage>[0], next?: string): HttpReply {
    return signInPage(state, { ...(next !== undefined && { next }), isMailSetUp: isMailSetUp() })
  }

  /**
   * Links name an address of this machine, where no TLS ends. There browsers keep no `Secure` cookie, but at names of loopback.
   */
  function isSecureAt(host = ''): boolean {
    return isSecure() && (host === new URL(apiHost()).host || isLoopback(host.replace(/:\d+$/, '')))
  }

  /** Links work only for requests to this machine's own address, a tunnel included. */
  async function byLink(head: RequestHead): Promise<HttpReply> {
    const sent = new URLSearchParams(head.query)
    const [token, next] = [sent.get('token'), pageAfter(sent.get('next'))]
    // The link works once: whoever only looks where it leads doesn't use it up.
    if (token === null || head.method === 'HEAD') return page(sent.has('changed') ? 'changed' : 200, next)
    if (!isLoopback(addressOf(head, { proxies }))) return page(403)
    const session = await pg.transaction((tx) => signInByLink(tx, token, arrivingBrowser(head.headers), clock.now()))
    // No code is asked for: whoever makes links on the machine may turn the second factor off, too.
    if (session === null) return page(410)
    return redirect(next, [sessionCookie(session, isSecureAt(head.headers.get('host')))])
  }

  /** Neither the answer nor its timing reveals whether the e-mail exists. */
  async function byPassword(request: HttpRequest): Promise<HttpReply> {
    const form = new URLSearchParams(request.body.toString())
    const next = pageAfter(form.get('next'))
    const email = (form.get('email') ?? '').trim().toLowerCase()
    const password = form.get('password') ?? ''
    // Postgres takes no NUL.
    const isNobodys = email.length > identifierLengthMax || email.includes('\0')
    if (isNobodys || [...password].length > passwordLengthMax) return page(401, next)
    return gate(request, {
      email,
      refuse: () => page(429, next),
      async pass() {
        const found = await findOwnerPassword(pg, email)
        if (!(await isPasswordOf(password, found?.hash)) || found === null) return page(401, next)
        return pg.transaction(async (tx) => {
          // A password that was changed meanwhile opens nothing.
          if (!(await lockPassword(tx, found))) return page(401, next)
          if (await isSecondFactorOn(tx, found.ownerId)) {
            const step = await beginSignInStep(tx, found.ownerId, clock.now())
            return redirect(`${codePath}?${new URLSearchParams({ next })}`, [stepCookie(step, isSecure())])
          }
          const arriving = arrivingBrowser(request.headers)
          const session = await beginBrowserSession(tx, { ...found, ...arriving }, clock.now())
          return redirect(next, [sessionCookie(session, isSecure()), knownBrowsers.cookieFor(email)])
        })
      },
    })
  }

  return { byLink, byPassword }
}

/** After a form, a browser asks for the page with GET. */
export function redirect(location: string, cookies: readonly string[] = []): HttpReply {
  return { status: 303, headers: { Location: location, 'Cache-Control': 'no-store' }, cookies }
}
