/**
 * /dashboard/member-second-factor: the owner of a workspace removes the second factor of a member who lost the phone. It asks for
 * the owner's own password, and code where the owner has a second factor. The address names the workspace, as another tab may have
 * taken the session to another one. Held by test/integration/member-factor.test.ts.
 */

import { findMemberFactor, lockMemberFactor } from '../../../postgres/tables/members/member-factors.ts'
import { findPasswordHash } from '../../../postgres/tables/members/owner-passwords.ts'
import { listStandings } from '../../../postgres/tables/members/owner-sessions.ts'
import { isSecondFactorOn, turnOffSecondFactor } from '../../../postgres/tables/members/second-factors.ts'
import type { Authenticated, Standing } from '../../../postgres/tables/workspaces/api-keys.ts'
import { isPasswordOf } from '../../../runtime/crypto/password.ts'
import type { RequestHead } from '../../../runtime/http/head.ts'
import type { HttpReply } from '../../../runtime/http/reply.ts'
import type { HttpRequest } from '../../../runtime/http/server.ts'
import { ownScope } from '../../../schemas/scopes.ts'
import { inWorkspace, workspaceOf } from '../../../schemas/workspace-address.ts'
import type { PageContext } from '../page-context.ts'
import { retryIn } from '../password-gate.ts'
import { findSignedIn } from '../session.ts'
import { addressIn, leadingOn, redirect, signInFor } from '../sign-in.ts'
import { factorPath } from './account-page.ts'
import { type MemberFactorForm, type MemberPageState, memberFactorPage, memberFactorPath } from './member-page.ts'

interface Asking {
  readonly session: Authenticated
  readonly workspaceId: number
  readonly hash: string
  readonly form: MemberFactorForm
}

export function makeMemberFactor({ pg, authenticator, gate, codes, audit }: PageContext) {
  /** @returns the answer where there is nothing to ask for */
  async function asking(head: RequestHead, sent: URLSearchParams): Promise<Asking | HttpReply> {
    const session = await findSignedIn(authenticator, head)
    if (session === null) return redirect(signInFor({ path: memberFactorPath, query: head.query }))
    const { ownerId, name: email } = session
    const named = workspaceOf(sent.get('workspace'))
    const standing = named === undefined ? session : await findStanding(ownerId, named)
    if (standing?.lacksFactor) return redirect(leadingOn(factorPath, addressIn(head)))
    if (!standing?.isMember || !standing.scopes.includes(ownScope)) return memberFactorPage(403)
    const workspaceId = standing.workspace.id
    if (sent.has('removed')) return memberFactorPage('removed', workspaceId)
    const memberId = /^\d{1,15}$/.test(sent.get('member') ?? '') ? Number(sent.get('member')) : 0
    const found = await findMemberFactor(pg, { workspaceId, ownerId, memberId })
    if (found === null) return memberFactorPage(404, workspaceId)
    if (found.isElsewhere) return memberFactorPage('elsewhere', workspaceId)
    const hash = await findPasswordHash(pg, ownerId)
    if (hash === null) return memberFactorPage(409, workspaceId)
    const needsCode = await isSecondFactorOn(pg, ownerId)
    return { session, workspaceId, hash, form: { memberId, memberEmail: found.email, email, needsCode } }
  }

  async function findStanding(ownerId: number, workspaceId: number): Promise<Standing | undefined> {
    return (await listStandings(pg, ownerId)).find(({ workspace }) => workspace.id === workspaceId)
  }

  async function show(head: RequestHead): Promise<HttpReply> {
    const asked = await asking(head, new URLSearchParams(head.query))
    return 'status' in asked ? asked : memberFactorPage(200, asked.workspaceId, asked.form)
  }

  async function remove(request: HttpRequest): Promise<HttpReply> {
    const sent = new URLSearchParams(request.body.toString())
    const asked = await asking(request, sent)
    if ('status' in asked) return asked
    const { session, workspaceId, hash, form } = asked
    const page = (state: MemberPageState) => memberFactorPage(state, workspaceId, form)
    return gate(request, {
      email: session.name,
      refuse: () => page(429),
      async pass() {
        if (!(await isPasswordOf(sent.get('current') ?? '', hash))) return page(401)
        const work = () => removeNow(request, asked, sent.get('code') ?? '')
        if (!form.needsCode) return work()
        const attempt = await codes.attempt(session.ownerId, work)
        if ('done' in attempt) return attempt.done
        return attempt.waitMs > 0 ? retryIn(attempt.waitMs, page(429)) : page('wrong code')
      },
    })
  }

  /** @throws WrongCode */
  function removeNow(request: HttpRequest, { session, workspaceId, form }: Asking, code: string): Promise<HttpReply> {
    const { ownerId, name: email } = session
    const { memberId, needsCode } = form
    return pg.transaction(async (tx) => {
      const found = await lockMemberFactor(tx, { workspaceId, ownerId, memberId })
      if (found === null) return memberFactorPage(404, workspaceId)
      if (found.isElsewhere) return memberFactorPage('elsewhere', workspaceId)
      if (needsCode) await codes.use(tx, ownerId, code)
      await turnOffSecondFactor(tx, memberId)
      const change = { workspaceId, ownerId, email, memberId }
      await audit(tx, request, { ...change, action: 'member.remove_second_factor' })
      return redirect(inWorkspace(`${memberFactorPath}?removed`, workspaceId))
    })
  }

  return { show, remove }
}
