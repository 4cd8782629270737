/**
 * /dashboard/second-factor: whoever is signed in turns the second factor of the account on or off, also where the plan has lapsed.
 * It asks for the password first, as /dashboard/password does. Held by test/integration/second-factor.test.ts.
 */
import type { Queryable } from '../../../postgres/client.ts'
import { findPasswordHash } from '../../../postgres/tables/members/owner-passwords.ts'
import { isFactorRequired, listRequiring } from '../../../postgres/tables/members/required-factors.ts'
import {
  beginSecondFactor,
  findSecondFactor,
  replaceRecoveryCodes,
  type SecondFactor,
  turnOffSecondFactor,
  turnOnSecondFactor,
} from '../../../postgres/tables/members/second-factors.ts'
import type { Authenticated } from '../../../postgres/tables/workspaces/api-keys.ts'
import { listWorkspacesOf } from '../../../postgres/tables/workspaces/workspaces.ts'
import { isPasswordOf } from '../../../runtime/crypto/password.ts'
import type { SecretBox } from '../../../runtime/crypto/secret-box.ts'
import { makeTotpSecret, totpUri } from '../../../runtime/crypto/totp.ts'
import type { RequestHead } from '../../../runtime/http/head.ts'
import type { HttpReply } from '../../../runtime/http/reply.ts'
import type { HttpRequest } from '../../../runtime/http/server.ts'
import { makeRecoveryCode, readRecoveryCode, sha256Of } from '../../../schemas/keys.ts'
import { recoveryCodesCount } from '../../../schemas/limits/second-factor-limits.ts'
import { inWorkspaceOf } from '../../../schemas/workspace-address.ts'
import type { AccountChange } from '../audit-account.ts'
import type { PageContext } from '../page-context.ts'
import { retryIn } from '../password-gate.ts'
import { findSignedInTab } from '../session.ts'
import { leadingOn, pageAfter, redirect, signInForAccount } from '../sign-in.ts'
import { type Demand, factorPath, type PageState, recoveryCodesPage, secondFactorPage } from './account-page.ts'

interface AccountFactorContext extends PageContext {
  readonly box: SecretBox
  /** By which an app names the service. */
  issuer(): string
}

/** Who asks, with what the account has. */
interface Asking {
  readonly session: Authenticated
  readonly hash: string
  readonly factor: SecondFactor | null
  /** Empty where none is being set up. */
  readonly secret: string
  readonly demand: Demand
  /** The page that it leads on to. */
  readonly next: string
  /** That of the page's address, which may name the workspace that the tab shows. */
  readonly query: string
}

export function makeAccountFactor({ pg, authenticator, clock, gate, codes, box, audit, issuer }: AccountFactorContext) {
  /** @returns the answer where nobody is signed in, or the account has no password */
  async function asking(head: RequestHead, sent: URLSearchParams): Promise<Asking | HttpReply> {
    const next = pageAfter(sent.get('next'))
    const { query } = head
    const session = await findSignedInTab(authenticator, head)
    if (session === null) return redirect(signInForAccount(factorPath, head))
    const hash = await findPasswordHash(pg, session.ownerId)
    const demand = await demandOn(session)
    if (hash === null) return secondFactorPage(409, { demand, next, query })
    return { session, hash, ...(await readFactor(session.ownerId)), demand, next, query }
  }

  /** One that is being set up under a SECRET_KEY that was lost can't be shown: it is begun anew. */
  async function readFactor(ownerId: number): Promise<Pick<Asking, 'factor' | 'secret'>> {
    const factor = await findSecondFactor(pg, ownerId, clock.now())
    if (factor === null || factor.enabledAt !== null) return { factor, secret: '' }
    const secret = box.open(factor.sealed)
    return secret === null ? { factor: null, secret: '' } : { factor, secret }
  }

  async function demandOn({ ownerId, lacksFactor, isMember, workspace }: Authenticated): Promise<Demand> {
    const requiredBy = await listRequiring(pg, ownerId)
    if (!lacksFactor || !isMember) return { requiredBy }
    const others = (await listWorkspacesOf(pg, ownerId)).filter(({ id }) => id !== workspace.id)
    return { requiredBy, refused: { workspace: workspace.name, others } }
  }

  function page(
    state: PageState,
    { session: { name: email }, factor, secret, ...asked }: Omit<Asking, 'hash'>,
  ): HttpReply {
    if (factor === null) return secondFactorPage(state, { ...asked, account: { email } })
    const { enabledAt, recoveryCodesLeft } = factor
    if (enabledAt !== null) {
      return secondFactorPage(state, { ...asked, account: { email, on: { since: enabledAt, recoveryCodesLeft } } })
    }
    return secondFactorPage(state, {
      ...asked,
      account: { email, begun: { secret, uri: totpUri(secret, issuer(), email) } },
    })
  }

  async function show(head: RequestHead): Promise<HttpReply> {
    const sent = new URLSearchParams(head.query)
    const asked = await asking(head, sent)
    return 'status' in asked ? asked : page(sent.has('off') ? 'off' : 200, asked)
  }

  async function change(request: HttpRequest): Promise<HttpReply> {
    const form = new URLSearchParams(request.body.toString())
    const asked = await asking(request, form)
    if ('status' in asked) return asked
    const { session, factor, hash } = asked
    const code = form.get('code') ?? ''
    const wish = form.get('wish')
    if (wish === 'confirm') return confirm(request, asked, code)
    const isTurning = wish === 'off' || wish === 'codes'
    // The page may be older than another browser's change.
    if ((wish !== 'begin' && !isTurning) || isTurning !== (factor?.enabledAt != null)) return page(422, asked)
    return gate(request, {
      email: session.name,
      refuse: () => page(429, asked),
      async pass() {
        if (!(await isPasswordOf(form.get('current') ?? '', hash))) return page(401, asked)
        if (isTurning) return turn(wish, request, asked, code)
        await beginSecondFactor(pg, session.ownerId, box.seal(makeTotpSecret()), clock.now())
        return redirect(inWorkspaceOf(asked.query, leadingOn(factorPath, asked.next)))
      },
    })
  }

  /** Turns it on by the first right code. */
  async function confirm(request: HttpRequest, asked: Asking, code: string): Promise<HttpReply> {
    const { session, factor } = asked
    if (factor === null) return page(422, asked)
    if (factor.enabledAt !== null) return page('on', asked)
    const { ownerId, id: sessionId } = session
    const made = makeRecoveryCodes()
    const attempt = await codes.attempt(ownerId, () => {
      const { sealed } = factor
      const on = { ownerId, sessionId, sealed, step: codes.stepOf(sealed, code), codeHashes: made.hashes }
      return pg.transaction(async (tx) => {
        if (!(await turnOnSecondFactor(tx, { ...on, now: clock.now() }))) return false
        await audited(tx, request, session, 'member.turn_on_second_factor')
        return true
      })
    })
    if ('done' in attempt) {
      if (attempt.done) return recoveryCodesPage(made.codes, 'on', asked)
      const now = await readFactor(ownerId)
      return page(now.factor?.enabledAt == null ? 422 : 'on', { ...asked, ...now })
    }
    return attempt.waitMs > 0 ? retryIn(attempt.waitMs, page(429, asked)) : page('wrong code', asked)
  }

  /** Turns it off, or makes other recovery codes, by a code of either kind. */
  async function turn(wish: 'off' | 'codes', request: HttpRequest, asked: Asking, code: string): Promise<HttpReply> {
    const { session } = asked
    const { ownerId } = session
    const made = makeRecoveryCodes()
    const attempt = await codes.attempt(ownerId, () =>
      pg.transaction(async (tx) => {
        // Before the code, which stays unused then.
        if (wish === 'off' && (await isFactorRequired(tx, ownerId))) return 'required' as const
        const { recoveryCodesLeft } = await codes.use(tx, ownerId, code)
        if (wish === 'off') await turnOffSecondFactor(tx, ownerId)
        else await replaceRecoveryCodes(tx, ownerId, made.hashes)
        const action = wish === 'off' ? 'member.turn_off_second_factor' : 'member.replace_recovery_codes'
        await audited(tx, request, session, action, recoveryCodesLeft === null ? {} : { recovery_code: true })
        return 'turned' as const
      }),
    )
    if ('done' in attempt && attempt.done === 'required') return page('required', asked)
    if ('done' in attempt)
      return wish === 'off'
        ? redirect(inWorkspaceOf(asked.query, `${factorPath}?off`))
        : recoveryCodesPage(made.codes, 'again', asked)
    return attempt.waitMs > 0 ? retryIn(attempt.waitMs, page(429, asked)) : page('wrong code', asked)
  }

  function audited(
    tx: Queryable,
    request: HttpRequest,
    { ownerId, name: email, workspace: { id: workspaceId } }: Authenticated,
    action: AccountChange['action'],
    metadata: AccountChange['metadata'] = {},
  ): Promise<void> {
    return audit(tx, request, { workspaceId, action, ownerId, email, metadata })
  }

  return { show, change }
}

function makeRecoveryCodes(): { readonly codes: readonly string[]; readonly hashes: readonly Buffer[] } {
  const codes = Array.from({ length: recoveryCodesCount }, makeRecoveryCode)
  return { codes, hashes: codes.map((code) => sha256Of(readRecoveryCode(code)!)) }
}
