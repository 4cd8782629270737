/**
 * /dashboard/join?token=…: makes a member of whoever has the link of an invitation. GET shows a form, uses nothing up and says
 * nothing of accounts. POST asks for a password: a new account's, or that of the account with this e-mail. An account without one
 * is refused, as no link may take it over. Held by test/integration/join.test.ts.
 *
 * The token stands in the query, because the page has no script that could read a fragment. Caches, `Referer` and our log don't
 * get it, and it works once.
 */
import { acceptInvitation, findInvitation, type OpenInvitation } from '../../postgres/tables/members/invitations.ts'
import { beginBrowserSession } from '../../postgres/tables/members/owner-sessions.ts'
import { isSecondFactorOn } from '../../postgres/tables/members/second-factors.ts'
import { hashPassword, isPasswordOf } from '../../runtime/crypto/password.ts'
import type { RequestHead } from '../../runtime/http/head.ts'
import type { HttpReply } from '../../runtime/http/reply.ts'
import type { HttpRequest } from '../../runtime/http/server.ts'
import { isLinkToken } from '../../schemas/keys.ts'
import { isAcceptablePassword } from '../../schemas/password-rule.ts'
import { type Invited, joinPage } from './join-page.ts'
import type { PageContext } from './page-context.ts'
import { retryIn } from './password-gate.ts'
import { WrongCode } from './second-factor/codes.ts'
import { arrivingBrowser, sessionCookie, tokenOf } from './session.ts'
import { redirect } from './sign-in.ts'

export const joinPath = '/dashboard/join'

export function makeJoin({ pg, clock, gate, codes, audit, knownBrowsers, isSecure }: PageContext) {
  async function find(token: string | null): Promise<OpenInvitation | null> {
    return token !== null && isLinkToken(token) ? findInvitation(pg, token, clock.now()) : null
  }

  async function show({ query, headers }: RequestHead): Promise<HttpReply> {
    const token = new URLSearchParams(query).get('token')
    const invitation = await find(token)
    return invitation === null
      ? joinPage(410)
      : joinPage(200, { ...invitation, token: token!, isSignedIn: isSignedIn(headers) })
  }

  async function join(request: HttpRequest): Promise<HttpReply> {
    const form = new URLSearchParams(request.body.toString())
    const token = form.get('token')
    const invitation = await find(token)
    if (invitation === null) return joinPage(410)
    const shown = { ...invitation, token: token!, isSignedIn: isSignedIn(request.headers) }
    const password = form.get('password') ?? ''
    // Before anything is known of the account: the answer is the same with and without one.
    if (!isAcceptablePassword(password)) return joinPage(422, shown)
    const { account, email } = invitation
    if (account !== null && account.passwordHash === null) return joinPage(409, shown)
    return gate(request, {
      email,
      refuse: () => joinPage(429, shown),
      async pass() {
        const known = account?.passwordHash ?? undefined
        // Counted as a try, as it tells that there is no account.
        if (known === undefined && form.get('again') !== password) return joinPage(422, shown)
        if (known !== undefined && !(await isPasswordOf(password, known))) return joinPage(401, shown)
        const code = form.get('code') ?? ''
        const accepted = async () => accept(request, invitation, known ?? (await hashPassword(password)), code)
        if (account === null || code === '') return withoutCode(accepted, shown)
        const attempt = await codes.attempt(account.id, accepted)
        if ('done' in attempt) return reply(attempt.done, shown)
        return attempt.waitMs > 0 ? retryIn(attempt.waitMs, joinPage(429, shown)) : joinPage('wrong code', shown)
      },
    })
  }

  async function withoutCode(accepted: () => ReturnType<typeof accept>, shown: Invited): Promise<HttpReply> {
    try {
      return reply(await accepted(), shown)
    } catch (error) {
      if (error instanceof WrongCode) return joinPage('code', shown)
      throw error
    }
  }

  function reply(outcome: Awaited<ReturnType<typeof accept>>, shown: Invited): HttpReply {
    if (outcome === 'gone') return joinPage(410)
    if (outcome === 'changed') return joinPage(401, shown)
    return redirect('/dashboard', [sessionCookie(outcome.session, isSecure()), knownBrowsers.cookieFor(shown.email)])
  }

  /** @throws WrongCode where the account has a second factor, and this is no code of it */
  function accept(request: HttpRequest, invitation: OpenInvitation, passwordHash: string, code: string) {
    const { id, workspaceId, email, role } = invitation
    return pg.transaction(async (tx) => {
      const ownerId = await acceptInvitation(tx, invitation, passwordHash)
      if (typeof ownerId === 'string') return ownerId
      // The account is locked by now: a second factor that was turned on a moment ago counts.
      const used = (await isSecondFactorOn(tx, ownerId)) ? await codes.use(tx, ownerId, code) : undefined
      const arriving = arrivingBrowser(request.headers)
      const session = await beginBrowserSession(tx, { ownerId, workspaceId, ...arriving }, clock.now())
      const by = { workspaceId, ownerId, email }
      if (used?.recoveryCodesLeft != null) {
        const metadata = { left: used.recoveryCodesLeft }
        await audit(tx, request, { ...by, action: 'member.use_recovery_code', metadata })
      }
      await audit(tx, request, { ...by, action: 'member.join', metadata: { invitation_id: id, role } })
      return { session }
    })
  }

  return { show, join }
}

function isSignedIn(headers: RequestHead['headers']): boolean {
  return tokenOf(headers.get('cookie')) !== undefined
}
