/**
 * /dashboard/join?token=…: makes a member of whoever has the link of an invitation. GET shows a form, uses nothing up and says
 * nothing of accounts. POST asks for a password: a new account's, or that of the account with this e-mail. An account without one
 * is refused, as no link may take it over. Held by test/integration/join.test.ts.
 *
 * The token stands in the query, because the page has no script that could read a fragment. Caches, `Referer` and our log don't
 * get it, and it works once.
 */
import type { Postgres } from '../../postgres/client.ts'
import { acceptInvitation, findInvitation, type OpenInvitation } from '../../postgres/tables/invitations.ts'
import { beginBrowserSession } from '../../postgres/tables/owner-sessions.ts'
import type { Clock } from '../../runtime/clock.ts'
import { hashPassword, isPasswordOf } from '../../runtime/crypto/password.ts'
import type { RequestHead } from '../../runtime/http/head.ts'
import type { HttpReply } from '../../runtime/http/reply.ts'
import type { HttpRequest } from '../../runtime/http/server.ts'
import { isLinkToken } from '../../schemas/keys.ts'
import { isTakenAsPassword } from '../../schemas/password-rule.ts'
import { problemReply } from '../transports/rest.ts'
import type { AuditAccount } from './audit-account.ts'
import { joinPage } from './join-page.ts'
import type { KnownBrowsers } from './known-browsers.ts'
import type { PasswordGate } from './password-gate.ts'
import { isFromOwnPage, sessionCookie, tokenOf } from './session.ts'
import { redirect } from './sign-in.ts'

export const joinPath = '/dashboard/join'

interface JoinOptions {
  readonly pg: Pick<Postgres, 'query' | 'transaction'>
  readonly clock: Clock
  readonly gate: PasswordGate
  readonly audit: AuditAccount
  readonly knownBrowsers: KnownBrowsers
  isSecure(): boolean
}

export function makeJoin({ pg, clock, gate, audit, knownBrowsers, isSecure }: JoinOptions) {
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
    if (!isFromOwnPage(request)) return problemReply('workspace_access_denied')
    const form = new URLSearchParams(request.body.toString())
    const token = form.get('token')
    const invitation = await find(token)
    if (invitation === null) return joinPage(410)
    const shown = { ...invitation, token: token!, isSignedIn: isSignedIn(request.headers) }
    const password = form.get('password') ?? ''
    // Before anything is known of the account: the answer is the same with and without one.
    if (!isTakenAsPassword(password)) return joinPage(422, shown)
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
        const outcome = await accept(request, invitation, known ?? (await hashPassword(password)))
        if (outcome === 'gone') return joinPage(410)
        if (outcome === 'changed') return joinPage(401, shown)
        return redirect('/dashboard', [sessionCookie(outcome.session, isSecure()), knownBrowsers.cookieFor(email)])
      },
    })
  }

  function accept(request: HttpRequest, invitation: OpenInvitation, passwordHash: string) {
    const { id, workspaceId, email, role } = invitation
    return pg.transaction(async (tx) => {
      const ownerId = await acceptInvitation(tx, invitation, passwordHash)
      if (typeof ownerId === 'string') return ownerId
      const session = await beginBrowserSession(tx, { ownerId, workspaceId }, clock.now())
      await audit(tx, request, {
        ...{ workspaceId, action: 'member.join', ownerId, email },
        metadata: { invitation_id: id, role },
      })
      return { session }
    })
  }

  return { show, join }
}

function isSignedIn(headers: RequestHead['headers']): boolean {
  return tokenOf(headers.get('cookie')) !== undefined
}
