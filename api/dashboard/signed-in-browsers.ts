/**
 * /dashboard/browsers: the browsers that are signed in to the own account, each of which can be signed out. It needs no plan. The
 * address may name the workspace that the tab shows, and so do those of its links. Held by test/integration/signed-in-browsers.test.ts.
 */

import {
  type BrowserSession,
  endBrowserSessionsOf,
  listBrowserSessions,
} from '../../postgres/tables/members/owner-sessions.ts'
import type { RequestHead } from '../../runtime/http/head.ts'
import type { HttpReply } from '../../runtime/http/reply.ts'
import type { HttpRequest } from '../../runtime/http/server.ts'
import { escapeHtml } from '../../schemas/escape-html.ts'
import { inWorkspaceOf } from '../../schemas/workspace-address.ts'
import type { PageContext } from './page-context.ts'
import { plainPage } from './pages.ts'
import { findSignedIn } from './session.ts'
import { redirect, signInForAccount } from './sign-in.ts'

export const browsersPath = '/dashboard/browsers'

export function makeSignedInBrowsers({ pg, authenticator, clock }: PageContext) {
  async function show(head: RequestHead): Promise<HttpReply> {
    const session = await findSignedIn(authenticator, head)
    if (session === null) return redirect(signInForAccount(browsersPath, head))
    return browsersPage(await listBrowserSessions(pg, session.ownerId, clock.now()), session.id, head)
  }

  async function signOut(request: HttpRequest): Promise<HttpReply> {
    const session = await findSignedIn(authenticator, request)
    if (session === null) return redirect(signInForAccount(browsersPath, request))
    const chosen = new URLSearchParams(request.body.toString()).get('browser') ?? ''
    const id = /^\d{1,15}$/.test(chosen) ? Number(chosen) : undefined
    // A browser that has ended meanwhile, or is another account's, changes nothing: the list says what is there.
    if (id !== undefined || chosen === 'others')
      await endBrowserSessionsOf(pg, session.ownerId, { id, but: session.id })
    return redirect(inWorkspaceOf(request.query, browsersPath))
  }

  return { show, signOut }
}

/** @param ownId the session of the browser that shows the page: it signs out in the settings */
function browsersPage(
  sessions: readonly BrowserSession[],
  ownId: number,
  { query }: Pick<RequestHead, 'query'>,
): HttpReply {
  const address = (path: string) => inWorkspaceOf(query, path)
  const formWith = (button: string) => `<form method="post" action="${address(browsersPath)}">${button}</form>`
  const lines = sessions.map(({ id, browser, createdAt, lastUsedAt }) => {
    const name = escapeHtml(browser ?? 'Unknown browser')
    const used = lastUsedAt === null ? '' : `, last used ${minuteOf(lastUsedAt)}`
    const end =
      id === ownId
        ? '<p>This browser.</p>'
        : formWith(
            `<button type="submit" name="browser" value="${id}" aria-label="Sign out ${name}, signed in ${minuteOf(createdAt)}">Sign out</button>`,
          )
    return `<li><strong>${name}</strong><p>Signed in ${minuteOf(createdAt)}${used}.</p>${end}</li>`
  })
  const others =
    sessions.length > 1
      ? formWith('<button type="submit" class="danger" name="browser" value="others">Sign out all others</button>')
      : ''
  return plainPage(
    200,
    'Signed-in browsers',
    `<p>Times are in UTC. One that you don’t know? Sign it out, and <a href="${address('/dashboard/password')}">change your password</a>.</p><ul>${lines.join('')}</ul>${others}<p><a href="${address('/dashboard/settings')}">Back to the settings</a></p>`,
  )
}

function minuteOf(time: Date): string {
  return time.toISOString().slice(0, 16).replace('T', ' ')
}
