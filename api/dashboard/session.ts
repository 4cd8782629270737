/** The session of a member's browser: its cookie, and which requests may be the browser's own. */
import type { Queryable } from '../../postgres/client.ts'
import { type ArrivingBrowser, findBrowserSession } from '../../postgres/tables/members/owner-sessions.ts'
import type { Authenticated } from '../../postgres/tables/workspaces/api-keys.ts'
import type { Clock } from '../../runtime/clock.ts'
import type { RequestHead } from '../../runtime/http/head.ts'
import { Problem, problem } from '../../schemas/errors/problems.ts'
import { isLinkToken } from '../../schemas/keys.ts'
import { browserSessionMs } from '../../schemas/limits/api-limits.ts'
import { workspaceIn, workspaceOf } from '../../schemas/workspace-address.ts'
import type { Authenticator } from '../guards/authenticate.ts'
import { browserNameOf } from './browser-name.ts'
import { cookieValue, setCookie } from './cookies.ts'

const cookieName = 'svc_session'

/**
 * Reads a session's credential: its cookie, then after a line break the workspace that the page shows, if it names one: each tab
 * may show another. Images name it in their address.
 */
export function sessionCredential({ headers, query }: Pick<RequestHead, 'headers' | 'query'>): string | undefined {
  const shown = headers.get('x-workspace') ?? workspaceIn(query)
  return shown === undefined ? headers.get('cookie') : `${headers.get('cookie') ?? ''}\n${shown}`
}

/** Reads what `sessionCredential` gives. */
export function makeSessionAuthenticator(pg: Queryable, clock: Clock): Authenticator {
  async function authenticateAnew(credential = '', q: Queryable = pg): Promise<Authenticated> {
    const [cookies, shown] = credential.split('\n')
    const token = tokenOf(cookies)
    const found = token === undefined ? null : await findBrowserSession(q, token, clock.now(), workspaceOf(shown))
    if (found === null) throw problem('not_authenticated')
    if (shown !== undefined && shown !== String(found.workspace.id)) throw problem('workspace_moved')
    return found
  }
  return { authenticate: (credential) => authenticateAnew(credential), authenticateAnew }
}

/** The session of a form's page, in the workspace that it is in; null where nobody is signed in. */
export function findSignedIn(
  authenticator: Authenticator,
  { headers }: Pick<RequestHead, 'headers'>,
): Promise<Authenticated | null> {
  return found(authenticator, headers.get('cookie'))
}

/**
 * The same in the workspace that the page's address names, where whoever is signed in is a member of it. The audit log of the tab's
 * workspace has what its pages of the account change.
 */
export async function findSignedInTab(
  authenticator: Authenticator,
  { headers, query }: Pick<RequestHead, 'headers' | 'query'>,
): Promise<Authenticated | null> {
  const named = sessionCredential({ headers, query })
  return (await found(authenticator, named)) ?? found(authenticator, headers.get('cookie'))
}

async function found(authenticator: Authenticator, credential: string | undefined): Promise<Authenticated | null> {
  try {
    return await authenticator.authenticate(credential)
  } catch (error) {
    if (error instanceof Problem) return null
    throw error
  }
}

/** The token of the session in a `Cookie` header. */
export function tokenOf(cookies: string | undefined): string | undefined {
  const token = cookieValue(cookies, cookieName)
  return token !== undefined && isLinkToken(token) ? token : undefined
}

/** For the session that a request begins. */
export function arrivingBrowser(headers: RequestHead['headers']): ArrivingBrowser {
  return { browser: browserNameOf(headers.get('user-agent')), before: tokenOf(headers.get('cookie')) }
}

/** `Set-Cookie` of a session; of its end without a token. @param isSecure whether browsers come by TLS */
export function sessionCookie(token: string | undefined, isSecure: boolean): string {
  return setCookie({ name: cookieName, value: token, path: '/', lastsMs: browserSessionMs, sameSite: 'Lax', isSecure })
}

/** Whether a request that changes something comes from our own pages: no other site may make a browser send it. */
export function isFromOwnPage({ headers }: RequestHead): boolean {
  const site = headers.get('sec-fetch-site')
  if (site !== undefined) return site === 'same-origin'
  const origin = headers.get('origin')
  return origin !== undefined && URL.canParse(origin) && new URL(origin).host === headers.get('host')
}
