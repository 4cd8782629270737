/**
 * /dashboard/password: whoever is signed in gives the account another password, also where the plan has lapsed. It asks for the
 * current one, as a browser that is left open must not become somebody else's account. All other sessions end. The address
 * may name the workspace that the tab shows, and so does the way back. Held by test/integration/members.test.ts.
 */

import { changePassword, findPasswordHash } from '../../postgres/tables/members/owner-passwords.ts'
import { beginBrowserSession } from '../../postgres/tables/members/owner-sessions.ts'
import type { Authenticated } from '../../postgres/tables/workspaces/api-keys.ts'
import { hashPassword, isPasswordOf } from '../../runtime/crypto/password.ts'
import type { RequestHead } from '../../runtime/http/head.ts'
import type { HttpReply } from '../../runtime/http/reply.ts'
import type { HttpRequest } from '../../runtime/http/server.ts'
import { escapeHtml } from '../../schemas/escape-html.ts'
import { passwordLengthMax, passwordLengthMin } from '../../schemas/limits/api-limits.ts'
import { isAcceptablePassword } from '../../schemas/password-rule.ts'
import { inWorkspaceOf } from '../../schemas/workspace-address.ts'
import type { PageContext } from './page-context.ts'
import { fault, headedPage, newPasswordFields } from './pages.ts'
import { arrivingBrowser, findSignedInTab, sessionCookie } from './session.ts'
import { redirect, signInForAccount } from './sign-in.ts'

export const passwordPath = '/dashboard/password'

export function makePasswordChange({ pg, authenticator, clock, gate, audit, knownBrowsers, isSecure }: PageContext) {
  /** Null without a session. */
  async function signedIn(head: RequestHead) {
    const session = await findSignedInTab(authenticator, head)
    if (session === null) return null
    return { session, email: session.name, hash: await findPasswordHash(pg, session.ownerId) }
  }

  async function show(head: RequestHead): Promise<HttpReply> {
    const found = await signedIn(head)
    if (found === null) return redirect(signInForAccount(passwordPath, head))
    if (new URLSearchParams(head.query).has('changed')) return passwordPage('changed', head)
    return found.hash === null ? passwordPage(409, head) : passwordPage(200, head, found.email)
  }

  async function change(request: HttpRequest): Promise<HttpReply> {
    const form = new URLSearchParams(request.body.toString())
    const password = form.get('password') ?? ''
    const found = await signedIn(request)
    if (found === null) return redirect(signInForAccount(passwordPath, request))
    const { session, email, hash } = found
    const page = (state: keyof typeof texts) => passwordPage(state, request, email)
    if (hash === null) return passwordPage(409, request)
    if (!isAcceptablePassword(password) || form.get('again') !== password) return page(422)
    return gate(request, {
      email,
      refuse: () => page(429),
      async pass() {
        if (!(await isPasswordOf(form.get('current') ?? '', hash))) return page(401)
        const token = await set(request, session, { before: hash, after: await hashPassword(password) })
        if (token === null) return page(401)
        const cookies = [sessionCookie(token, isSecure()), knownBrowsers.cookieFor(email)]
        return redirect(inWorkspaceOf(request.query, `${passwordPath}?changed`), cookies)
      },
    })
  }

  /** @returns the token of this browser's new session; null where the password was changed meanwhile */
  function set(
    request: HttpRequest,
    { ownerId, name, workspace: { id: workspaceId } }: Authenticated,
    hashes: { readonly before: string; readonly after: string },
  ): Promise<string | null> {
    return pg.transaction(async (tx) => {
      if (!(await changePassword(tx, ownerId, hashes))) return null
      const session = { ownerId, workspaceId, ...arrivingBrowser(request.headers) }
      const token = await beginBrowserSession(tx, session, clock.now())
      // Last: who begins a session as well holds rows that are over, and then waits for the end of the audit chain.
      await audit(tx, request, { workspaceId, action: 'member.change_password', ownerId, email: name })
      return token
    })
  }

  return { show, change }
}

const texts = {
  401: 'The current password is wrong.',
  409: 'This account signs in by links alone. Whoever runs the service gives it a password: <code>npx svc owner password</code>',
  422: `A password must have ${passwordLengthMin} to ${passwordLengthMax} characters, and be the same in both fields.`,
  429: 'Too many attempts. Try again later.',
} as const

/**
 * Plain HTML, so that any browser's keeper of passwords knows the form.
 * @param state 200 for the form alone, 401 wrong password, 409 an account without one, 422 no password, or one that differs, 429 too
 * many tries
 * @param query that of the page's address
 * @param email whose password it is; undefined: without the form
 */
function passwordPage(
  state: 'changed' | 200 | keyof typeof texts,
  { query }: Pick<RequestHead, 'query'>,
  email?: string,
): HttpReply {
  const said = {
    changed: '<p role="status">The password was changed. All other browsers of this account are signed out.</p>',
    200: '<p>The new password ends all other sessions of this account, and its open invitations. API keys, shared links and connected apps keep working. End them in the settings.</p>',
  }
  const note = state === 'changed' || state === 200 ? said[state] : fault(texts[state])
  return headedPage(
    state === 'changed' ? 200 : state,
    'Password',
    `${note}${email === undefined ? '' : formFor(email, query)}<p><a href="${inWorkspaceOf(query, '/dashboard/settings')}">Back to the settings</a></p>`,
  )
}

function formFor(email: string, query: string): string {
  return `<form class="panel" method="post" action="${inWorkspaceOf(query, passwordPath)}"><label>E-mail <input type="email" value="${escapeHtml(email)}" autocomplete="username" readonly></label>
<label>Current password <input name="current" type="password" autocomplete="current-password" required></label>
${newPasswordFields}<button type="submit">Change the password</button></form>`
}
