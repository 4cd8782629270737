/**
 * A forgotten password. /dashboard/forgot asks for an e-mail. Only the pipeline looks up whose it is, so neither the
 * answer nor its time tells. The mail's link leads to /dashboard/reset?token=…: GET shows a form and uses nothing up.
 * POST sets the password, which ends all sessions and links of the account. Held by
 * test/integration/account-mails.test.ts.
 */

import { changePassword } from '../../postgres/tables/members/owner-passwords.ts'
import { findPasswordReset, type OpenReset } from '../../postgres/tables/members/password-resets.ts'
import { addForgottenPassword } from '../../postgres/tables/messages/account-mails.ts'
import { hashPassword } from '../../runtime/crypto/password.ts'
import type { SecretBox } from '../../runtime/crypto/secret-box.ts'
import type { RequestHead } from '../../runtime/http/head.ts'
import type { HttpReply } from '../../runtime/http/reply.ts'
import type { HttpRequest } from '../../runtime/http/server.ts'
import { emailOf } from '../../schemas/event/identifiers.ts'
import { isLinkToken, makeLinkToken } from '../../schemas/keys.ts'
import { isAcceptablePassword } from '../../schemas/password-rule.ts'
import type { PageContext } from './page-context.ts'
import { forgotPage, resetPage } from './reset-pages.ts'
import { redirect, signInPath } from './sign-in.ts'

interface ResetContext extends PageContext {
  /** Seals tokens until they are sent. */
  readonly mailBox: SecretBox
}

export function makePasswordReset({ pg, mailBox, clock, gate, audit, knownBrowsers }: ResetContext) {
  function showForgot(): HttpReply {
    return forgotPage(200)
  }

  async function askForLink(request: HttpRequest): Promise<HttpReply> {
    const email = emailOf(new URLSearchParams(request.body.toString()).get('email'))
    // Postgres takes no NUL.
    if (email === null || email === '' || email.includes('\0')) return forgotPage(422)
    return gate(request, {
      email,
      apart: 'forgot',
      refuse: () => forgotPage(429),
      async pass() {
        const forgotten = { email, sealed: mailBox.seal(makeLinkToken()), now: new Date(clock.now()) }
        return forgotPage((await pg.transaction((tx) => addForgottenPassword(tx, forgotten))) ? 'asked' : 429)
      },
    })
  }

  async function find(token: string | null): Promise<OpenReset | null> {
    return token !== null && isLinkToken(token) ? findPasswordReset(pg, token, clock.now()) : null
  }

  async function show({ query }: RequestHead): Promise<HttpReply> {
    const token = new URLSearchParams(query).get('token')
    const found = await find(token)
    return found === null ? resetPage(410) : resetPage(200, { email: found.email, token: token! })
  }

  /** Other sites can't make a browser send it, as they don't know the token. The page's policy takes `Origin` from its form. */
  async function reset(request: HttpRequest): Promise<HttpReply> {
    const form = new URLSearchParams(request.body.toString())
    const token = form.get('token')
    const found = await find(token)
    if (found === null) return resetPage(410)
    const shown = { email: found.email, token: token! }
    const password = form.get('password') ?? ''
    if (!isAcceptablePassword(password) || form.get('again') !== password) return resetPage(422, shown)
    return gate(request, {
      email: found.email,
      apart: 'reset',
      refuse: () => resetPage(429, shown),
      async pass() {
        const isSet = await set(request, found, await hashPassword(password))
        // The sign-in that follows has tries of its own, and asks for the code of a second factor.
        return isSet ? redirect(`${signInPath}?changed`, [knownBrowsers.cookieFor(found.email)]) : resetPage(410)
      },
    })
  }

  /** @returns false where the password was changed meanwhile, as by this link */
  function set(
    request: HttpRequest,
    { ownerId, email, workspaceId, hash }: OpenReset,
    after: string,
  ): Promise<boolean> {
    return pg.transaction(async (tx) => {
      if (!(await changePassword(tx, ownerId, { before: hash, after }))) return false
      await audit(tx, request, { workspaceId, action: 'member.reset_password', ownerId, email })
      return true
    })
  }

  return { showForgot, askForLink, show, reset }
}
