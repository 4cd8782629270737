/**
 * Routes for browsers: signing in, a forgotten password and joining a workspace, the pages of the dashboard, and the page of shared links. Under `/api/v1` they call the
 * operations of `/v1` with the session's cookie in place of a key. Held by test/integration/dashboard-session.test.ts.
 */
import type { ClickHouse } from '../../clickhouse/client.ts'
import type { Postgres } from '../../postgres/client.ts'
import { endBrowserSession, moveBrowserSession } from '../../postgres/tables/owner-sessions.ts'
import type { KeyedHash } from '../../runtime/crypto/keyed-hash.ts'
import type { SecretBox } from '../../runtime/crypto/secret-box.ts'
import type { RequestHead } from '../../runtime/http/head.ts'
import type { HttpReply } from '../../runtime/http/reply.ts'
import type { HttpRequest, NoRoute, Route, StreamedRoute } from '../../runtime/http/server.ts'
import { StoreUnavailable } from '../../runtime/store-error.ts'
import { Problem } from '../../schemas/errors/problems.ts'
import { signInFormBytesMax } from '../../schemas/limits/api-limits.ts'
import type { SignInLimiter } from '../guards/rate-limit.ts'
import type { Operation } from '../operations/define.ts'
import { makeRestRouter, problemReply, type RestGateway } from '../transports/rest.ts'
import { makeAccountAudit } from './audit-account.ts'
import { makePasswordChange, passwordPath } from './change-password.ts'
import { makeFirstAnswers } from './first-answers.ts'
import { joinPath, makeJoin } from './join.ts'
import { makeKnownBrowsers } from './known-browsers.ts'
import { makeSessionOperations } from './operations/registry.ts'
import { assets, awayPage, forgotPath, playerPage, sharedPage, sharedPaths, shell } from './pages.ts'
import { makePasswordGate } from './password-gate.ts'
import { resetPath } from './reset-pages.ts'
import { makePasswordReset } from './reset-password.ts'
import { makeAccountFactor } from './second-factor/account.ts'
import { factorPath } from './second-factor/account-page.ts'
import { makeSecondFactorCodes } from './second-factor/codes.ts'
import { memberFactorPath } from './second-factor/member-page.ts'
import { makeMemberFactor } from './second-factor/remove-of-member.ts'
import { makeSignInStep } from './second-factor/sign-in-step.ts'
import { codePath } from './second-factor/step-cookie.ts'
import { isFromOwnPage, makeSessionAuthenticator, sessionCookie, sessionCredential, tokenOf } from './session.ts'
import { makeSignIn, redirect, signInFor, signInPath } from './sign-in.ts'
import { browsersPath, makeSignedInBrowsers } from './signed-in-browsers.ts'

const workspacePath = '/dashboard/workspace'
const signOutPath = '/dashboard/sign-out'
const playerPath = '/dashboard/player'
/** A form with one number. */
const smallFormBytesMax = 100

interface DashboardStores {
  readonly pg: Pick<Postgres, 'query' | 'transaction'>
  readonly ch: Pick<ClickHouse, 'query' | 'command'>
  readonly signInLimiter: SignInLimiter
  /** Seals the tokens of links that mails carry. */
  readonly mailBox: SecretBox
  /** Seals the secrets of second factors. */
  readonly factorBox: SecretBox
  /** For cookies by which browsers that signed in before are known. */
  readonly browserHash: KeyedHash
}

/** Returns undefined for other paths. */
export function makeDashboardRoute(
  operations: readonly Operation[],
  gateway: RestGateway,
  { pg, ch, signInLimiter, mailBox, factorBox, browserHash }: DashboardStores,
) {
  const { clock, config } = gateway
  const authenticator = makeSessionAuthenticator(pg, clock)
  const ofSessions: RestGateway = {
    ...gateway,
    authenticator,
    by: { interface: 'console', credentialOf: sessionCredential, under: '/api' },
    get config() {
      return gateway.config
    },
  }
  const all = [...operations, ...makeSessionOperations({ pg, ch }, mailBox)]
  const routeOperation = makeRestRouter(all, ofSessions)
  const readFirst = makeFirstAnswers(all, ofSessions)
  const isSecure = () => config.apiHost.startsWith('https:')
  const isMailSetUp = () => config.isMailSetUp
  const { proxies } = gateway
  const knownBrowsers = makeKnownBrowsers({ hash: browserHash, clock, isSecure })
  const gate = makePasswordGate({ signInLimiter, proxies, knownBrowsers })
  const codes = makeSecondFactorCodes({ box: factorBox, clock, limiter: signInLimiter })
  const shared = { pg, gate, clock, codes, knownBrowsers, audit: makeAccountAudit(gateway), isSecure }
  const signIn = makeSignIn({ ...shared, isMailSetUp, proxies })
  const signInStep = makeSignInStep(shared)
  const joining = makeJoin(shared)
  const password = makePasswordChange({ ...shared, authenticator })
  const forgotten = makePasswordReset({ ...shared, mailBox })
  const browsers = makeSignedInBrowsers({ ...shared, authenticator })
  const issuer = () => new URL(config.apiHost).hostname
  const factor = makeAccountFactor({ ...shared, authenticator, box: factorBox, issuer })
  const memberFactor = makeMemberFactor({ ...shared, authenticator })

  return function route(head: RequestHead): Route | StreamedRoute | NoRoute | undefined {
    const { path, method } = head
    const isReading = method === 'GET' || method === 'HEAD'
    // Below it is what sites and payment providers send.
    if (path.startsWith('/api/v1/') && !path.startsWith('/api/v1/growth/')) {
      if (!isReading && !isFromOwnPage(head)) return refused('workspace_access_denied')
      return routeOperation(head)
    }
    if (sharedPaths.includes(path))
      return isReading ? page('shared', sharedPage) : refused('method_not_allowed', 'GET, HEAD')
    if (path !== '/dashboard' && !path.startsWith('/dashboard/')) return undefined
    if (path === signOutPath)
      return method === 'POST' ? page('sign-out', signOut) : refused('method_not_allowed', 'POST')
    if (path === workspacePath)
      return method === 'POST' ? page('workspace', move, smallFormBytesMax) : refused('method_not_allowed', 'POST')
    if (path === signInPath && method === 'POST') return page('sign-in', signIn.byPassword, signInFormBytesMax)
    if (path === codePath && method === 'POST') return page('sign-in-code', signInStep.enter, signInFormBytesMax)
    if (path === joinPath && method === 'POST') return page('join', joining.join, signInFormBytesMax)
    if (path === passwordPath && method === 'POST') return page('password', password.change, signInFormBytesMax)
    if (path === factorPath && method === 'POST') return page('second-factor', factor.change, signInFormBytesMax)
    if (path === memberFactorPath && method === 'POST')
      return page('member-second-factor', memberFactor.remove, signInFormBytesMax)
    if (path === browsersPath && method === 'POST') return page('browsers', browsers.signOut, smallFormBytesMax)
    if (path === forgotPath && !isMailSetUp()) return page('forgot', () => redirect(signInPath))
    if (path === forgotPath && method === 'POST') return page('forgot', forgotten.askForLink, signInFormBytesMax)
    if (path === resetPath && method === 'POST') return page('reset', forgotten.reset, signInFormBytesMax)
    if (!isReading) {
      const hasForm = [
        signInPath,
        codePath,
        joinPath,
        passwordPath,
        factorPath,
        memberFactorPath,
        browsersPath,
        forgotPath,
        resetPath,
      ].includes(path)
      return refused('method_not_allowed', hasForm ? 'GET, HEAD, POST' : 'GET, HEAD')
    }
    const asset = Object.hasOwn(assets, path) ? assets[path] : undefined
    if (asset !== undefined) return page('asset', asset)
    if (path === playerPath) return page('player', playerPage)
    if (path === joinPath) return page('join', joining.show)
    if (path === passwordPath) return page('password', password.show)
    if (path === codePath) return page('sign-in-code', signInStep.show)
    if (path === browsersPath) return page('browsers', browsers.show)
    if (path === factorPath) return page('second-factor', factor.show)
    if (path === memberFactorPath) return page('member-second-factor', memberFactor.show)
    if (path === forgotPath) return page('forgot', forgotten.showForgot)
    if (path === resetPath) return page('reset', forgotten.show)
    return path === signInPath ? page('sign-in', signIn.byLink) : page('page', showPage)
  }

  /** To another workspace of whoever is signed in, by the form of the header. */
  async function move(request: HttpRequest): Promise<HttpReply> {
    const token = tokenOf(request.headers.get('cookie'))
    const id = Number(new URLSearchParams(request.body.toString()).get('workspace'))
    const isNamed = Number.isInteger(id) && id > 0 && id < 2 ** 31
    if (!isFromOwnPage(request) || token === undefined || !isNamed || !(await moveBrowserSession(pg, token, id))) {
      return problemReply('workspace_access_denied')
    }
    return redirect('/dashboard')
  }

  async function signOut(head: RequestHead): Promise<HttpReply> {
    if (!isFromOwnPage(head)) return problemReply('workspace_access_denied')
    const token = tokenOf(head.headers.get('cookie'))
    if (token !== undefined) await endBrowserSession(pg, token)
    return redirect(signInPath, [sessionCookie(undefined, isSecure())])
  }

  async function showPage(head: RequestHead): Promise<HttpReply> {
    try {
      const session = await authenticator.authenticate(sessionCredential(head.headers))
      if (session.lacksFactor) return redirect(factorPath)
      return shell(await readFirst(head))
    } catch (error) {
      if (error instanceof Problem) return redirect(signInFor(head))
      throw error
    }
  }
}

function page(
  label: string,
  handle: (request: HttpRequest) => Promise<HttpReply> | HttpReply,
  bodyBytesMax = 0,
): Route {
  return {
    ...{ label: `dashboard.${label}`, bodyBytesMax },
    async handle(request) {
      try {
        return await handle(request)
      } catch (error) {
        if (error instanceof StoreUnavailable) return awayPage()
        throw error
      }
    },
  }
}

function refused(code: Parameters<typeof problemReply>[0], allow?: string): NoRoute {
  return { label: 'none', reply: problemReply(code, allow === undefined ? undefined : { Allow: allow }) }
}
