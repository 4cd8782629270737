/**
 * /dashboard/sign-in/code: the second page of a sign-in by password, for accounts with a second factor. There is no session before
 * its code. Held by test/integration/second-factor.test.ts.
 */
import { beginBrowserSession } from '../../../postgres/tables/members/owner-sessions.ts'
import {
  endSignInStep,
  isSignInStepOpen,
  type SignInStep,
  trySignInStep,
} from '../../../postgres/tables/members/sign-in-steps.ts'
import type { RequestHead } from '../../../runtime/http/head.ts'
import type { HttpReply } from '../../../runtime/http/reply.ts'
import type { HttpRequest } from '../../../runtime/http/server.ts'
import type { PageContext } from '../page-context.ts'
import { retryIn } from '../password-gate.ts'
import { arrivingBrowser, sessionCookie } from '../session.ts'
import { pageAfter, redirect } from '../sign-in.ts'
import { codePage } from './code-page.ts'
import { stepCookie, stepTokenOf } from './step-cookie.ts'

export function makeSignInStep({ pg, clock, codes, audit, knownBrowsers, isSecure }: PageContext) {
  async function show({ headers, query }: RequestHead): Promise<HttpReply> {
    const token = stepTokenOf(headers.get('cookie'))
    if (token === undefined || !(await isSignInStepOpen(pg, token, clock.now()))) return over()
    return codePage(200, pageAfter(new URLSearchParams(query).get('next')))
  }

  async function enter(request: HttpRequest): Promise<HttpReply> {
    const form = new URLSearchParams(request.body.toString())
    const next = pageAfter(form.get('next'))
    const token = stepTokenOf(request.headers.get('cookie'))
    const step = token === undefined ? null : await trySignInStep(pg, token, clock.now())
    if (token === undefined || step === null) return over()
    const attempt = await codes.attempt(step.ownerId, () => signIn(request, token, step, form.get('code') ?? ''))
    if ('waitMs' in attempt) {
      return attempt.waitMs > 0 ? retryIn(attempt.waitMs, codePage(429, next)) : codePage(401, next)
    }
    if (attempt.done === null) return over()
    return redirect(next, [
      sessionCookie(attempt.done, isSecure()),
      stepCookie(undefined, isSecure()),
      knownBrowsers.cookieFor(step.email),
    ])
  }

  /** @returns the token of the session; null where the step ended meanwhile */
  function signIn(request: HttpRequest, token: string, step: SignInStep, code: string): Promise<string | null> {
    return pg.transaction(async (tx) => {
      if (!(await endSignInStep(tx, token, step))) return null
      const { recoveryCodesLeft } = await codes.use(tx, step.ownerId, code)
      const session = await beginBrowserSession(tx, { ...step, ...arrivingBrowser(request.headers) }, clock.now())
      if (recoveryCodesLeft !== null) {
        const metadata = { left: recoveryCodesLeft }
        await audit(tx, request, { ...step, action: 'member.use_recovery_code', metadata })
      }
      return session
    })
  }

  function over(): HttpReply {
    return { ...codePage(410), cookies: [stepCookie(undefined, isSecure())] }
  }

  return { show, enter }
}
