/**
 * What browsers of owners ask for: sign-in by a link, the pages of the dashboard, and under `/api/v1` the same operations as
 * under `/v1`, by the session's cookie in place of a key. Held by test/integration/dashboard-session.test.ts.
 */
import { isIP } from 'node:net'
import type { Postgres } from '../../postgres/client.ts'
import { endBrowserSession, signInByLink } from '../../postgres/tables/browser-sessions.ts'
import type { RequestHead } from '../../runtime/http/head.ts'
import type { HttpReply } from '../../runtime/http/reply.ts'
import type { NoRoute, Route, StreamedRoute } from '../../runtime/http/server.ts'
import { Problem } from '../../schemas/problems.ts'
import type { Operation } from '../operations/define.ts'
import { addressOf, makeRestRouter, problemReply, type RestGateway } from '../transports/rest.ts'
import { assets, shell, signInPage } from './pages.ts'
import { isFromOwnPage, makeSessionAuthenticator, sessionCookie, tokenOf } from './session.ts'

const signInPath = '/dashboard/sign-in'
const signOutPath = '/dashboard/sign-out'
const noStore = { 'Cache-Control': 'no-store' }

/** Of other paths undefined. */
export function makeDashboardRoute(
  operations: readonly Operation[],
  gateway: RestGateway,
  pg: Pick<Postgres, 'query' | 'transaction'>,
) {
  const { clock, config } = gateway
  const authenticator = makeSessionAuthenticator(pg, clock)
  const routeOperation = makeRestRouter(operations, {
    ...gateway,
    authenticator,
    by: { interface: 'console', header: 'cookie' },
    get config() {
      return gateway.config
    },
  })
  const isSecure = () => config.apiHost.startsWith('https:')

  return function route(head: RequestHead): Route | StreamedRoute | NoRoute | undefined {
    const { path, method } = head
    const isReading = method === 'GET' || method === 'HEAD'
    // Below it is what sites and payment providers send.
    if (path.startsWith('/api/v1/') && !path.startsWith('/api/v1/growth/')) {
      if (!isReading && !isFromOwnPage(head)) return refused('workspace_access_denied')
      return routeOperation({ ...head, path: path.slice('/api'.length) })
    }
    if (path !== '/dashboard' && !path.startsWith('/dashboard/')) return undefined
    if (path === signOutPath)
      return method === 'POST' ? page('sign-out', signOut) : refused('method_not_allowed', 'POST')
    if (!isReading) return refused('method_not_allowed', 'GET, HEAD')
    const asset = Object.hasOwn(assets, path) ? assets[path] : undefined
    if (asset !== undefined) return page('asset', asset)
    return path === signInPath ? page('sign-in', signIn) : page('page', showPage)
  }

  /** A link is for whoever sits at this machine, or has come to it by a tunnel. */
  async function signIn(head: RequestHead): Promise<HttpReply> {
    const token = new URLSearchParams(head.query).get('token')
    if (token === null) return signInPage(200)
    if (!isLoopback(addressOf(head, gateway))) return signInPage(403)
    const session = await pg.transaction((tx) => signInByLink(tx, token, clock.now()))
    if (session === null) return signInPage(410)
    return redirect('/dashboard', { 'Set-Cookie': sessionCookie(session, isSecure()) })
  }

  async function signOut(head: RequestHead): Promise<HttpReply> {
    if (!isFromOwnPage(head)) return problemReply('workspace_access_denied')
    const token = tokenOf(head.headers.get('cookie'))
    if (token !== undefined) await endBrowserSession(pg, token)
    return redirect(signInPath, { 'Set-Cookie': sessionCookie(undefined, isSecure()) })
  }

  async function showPage(head: RequestHead): Promise<HttpReply> {
    try {
      await authenticator.authenticate(head.headers.get('cookie'))
      return shell()
    } catch (error) {
      if (error instanceof Problem) return redirect(signInPath)
      throw error
    }
  }
}

function page(label: string, handle: (head: RequestHead) => Promise<HttpReply> | HttpReply): Route {
  return { label: `dashboard.${label}`, bodyBytesMax: 0, handle }
}

function refused(code: Parameters<typeof problemReply>[0], allow?: string): NoRoute {
  return { label: 'none', reply: problemReply(code, allow === undefined ? undefined : { Allow: allow }) }
}

function redirect(location: string, headers: Record<string, string> = {}): HttpReply {
  return { status: 303, headers: { Location: location, ...noStore, ...headers } }
}

function isLoopback(address: string): boolean {
  const bare = address.replace(/^::ffff:/, '')
  return bare === '::1' || (isIP(bare) === 4 && bare.startsWith('127.'))
}
