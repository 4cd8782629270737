/**
 * Routes for browsers: signing in, a forgotten password and joining a workspace, the pages of the dashboard, and the page of shared links. Under `/api/v1` they call the
 * operations of `/v1` with the session's cookie in place of a key. Held by test/integration/dashboard-session.test.ts.
 */
import type { ClickHouse } from '../../clickhouse/client.ts'
import type { Postgres } from '../../postgres/client.ts'
import { endBrowserSession, moveBrowserSession } from '../../postgres/tables/members/owner-sessions.ts'
import type { Authenticated } from '../../postgres/tables/workspaces/api-keys.ts'
import type { KeyedHash } from '../../runtime/crypto/keyed-hash.ts'
import type { SecretBox } from '../../runtime/crypto/secret-box.ts'
import type { RequestHead } from '../../runtime/http/head.ts'
import type { HttpReply } from '../../runtime/http/reply.ts'
import type { HttpRequest, NoRoute, Route, StreamedRoute } from '../../runtime/http/server.ts'
import { StoreUnavailable } from '../../runtime/store-error.ts'
import { Problem } from '../../schemas/errors/problems.ts'
import { signInFormBytesMax } from '../../schemas/limits/api-limits.ts'
import { withoutWorkspace, workspaceIn } from '../../schemas/workspace-address.ts'
import type { SignInLimiter } from '../guards/rate-limit.ts'
import { authorizePath } from '../oauth/metadata.ts'
import type { Operation } from '../operations/define.ts'
import { makeRestRouter, problemReply, type RestGateway } from '../transports/rest.ts'
import { makeAccountAudit } from './audit-account.ts'
import { makeAuthorize } from './authorize/authorize.ts'
import { makePasswordChange, passwordPath } from './change-password.ts'
import { makeFirstAnswers } from './first-answers.ts'
import { joinPath, makeJoin } from './join.ts'
import { makeKnownBrowsers } from './known-browsers.ts'
import { makeSessionOperations } from './operations/registry.ts'
import type { PageContext } from './page-context.ts'
import { assets, awayPage, forgotPath, playerPage, sharedPage, sharedPaths, shell } from './pages.ts'
import { makePasswordGate } from './password-gate.ts'
import { resetPath } from './reset-pages.ts'
import { makePasswordReset } from './reset-password.ts'
import { makeAccountFactor } from './second-factor/account.ts'
import { factorPath } from './second-factor/account-page.ts'
import { makeSecondFactorCodes } from './second-factor/codes.ts'
import { memberFactorPath } from './second-factor/member-page.ts'
import { makeMemberFactor } from './second-factor/remove-member-factor.ts'
import { makeSignInStep } from './second-factor/sign-in-step.ts'
import { codePath } from './second-factor/step-cookie.ts'
import { isFromOwnPage, makeSessionAuthenticator, sessionCookie, sessionCredential, tokenOf } from './session.ts'
import { addressIn, leadingOn, makeSignIn, redirect, signInFor, signInPath } from './sign-in.ts'
import { browsersPath, makeSignedInBrowsers } from './signed-in-browsers.ts'

const signOutPath = '/dashboard/sign-out'
const playerPath = '/dashboard/player'
/** A form with one number. */
const smallFormBytesMax = 100

interface FormPage {
  readonly label: string
  show(head: RequestHead): Promise<HttpReply> | HttpReply
  submit(request: HttpRequest): Promise<HttpReply>
  /** The form has at most so many; `signInFormBytesMax` where it is left out. */
  readonly bytesMax?: number
}

interface DashboardStores {
  readonly pg: Pick<Postgres, 'query' | 'transaction'>
  readonly ch: Pick<ClickHouse, 'query' | 'command'>
  readonly signInLimiter: SignInLimiter
  /** Seals the tokens of links that mails carry. */
  readonly mailBox: SecretBox
  /** Seals the credentials of social accounts. */
  readonly accountBox: SecretBox
  /** Opens the secrets of the installation's apps at platforms. */
  readonly appBox: SecretBox
  /** Seals the secrets of second factors. */
  readonly factorBox: SecretBox
  /** For cookies by which browsers that signed in before are known. */
  readonly browserHash: KeyedHash
}

/** Returns undefined for other paths. */
export function makeDashboardRoute(
  operations: readonly Operation[],
  gateway: RestGateway,
  { pg, ch, signInLimiter, mailBox, accountBox, appBox, factorBox, browserHash }: DashboardStores,
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
  const all = [...operations, ...makeSessionOperations({ pg, ch }, mailBox, { accountBox, appBox, signInLimiter })]
  const routeOperation = makeRestRouter(all, ofSessions)
  const readFirst = makeFirstAnswers(all, ofSessions)
  const isSecure = () => config.apiHost.startsWith('https:')
  const isMailSetUp = () => config.isMailSetUp
  const { proxies } = gateway
  const knownBrowsers = makeKnownBrowsers({ hash: browserHash, clock, isSecure })
  const gate = makePasswordGate({ signInLimiter, proxies, knownBrowsers })
  const codes = makeSecondFactorCodes({ box: factorBox, clock, limiter: signInLimiter })
  const audit = makeAccountAudit(gateway)
  const context: PageContext = { pg, clock, authenticator, gate, codes, audit, knownBrowsers, isSecure }
  const signIn = makeSignIn({ ...context, isMailSetUp, proxies, apiHost: () => config.apiHost })
  const signInStep = makeSignInStep(context)
  const joining = makeJoin(context)
  const password = makePasswordChange(context)
  const forgotten = makePasswordReset({ ...context, mailBox })
  const browsers = makeSignedInBrowsers(context)
  const issuer = () => new URL(config.apiHost).hostname
  const factor = makeAccountFactor({ ...context, box: factorBox, issuer })
  const memberFactor = makeMemberFactor(context)
  const authorize = makeAuthorize({ ...context, config })
  /** Pages with a form that is sent to their own address. */
  const forms: Readonly<Record<string, FormPage>> = {
    [signInPath]: { label: 'sign-in', show: signIn.byLink, submit: signIn.byPassword },
    [codePath]: { label: 'sign-in-code', show: signInStep.show, submit: signInStep.enter },
    [joinPath]: { label: 'join', show: joining.show, submit: joining.join },
    [passwordPath]: { label: 'password', show: password.show, submit: password.change },
    [factorPath]: { label: 'second-factor', show: factor.show, submit: factor.change },
    [memberFactorPath]: { label: 'member-second-factor', show: memberFactor.show, submit: memberFactor.remove },
    [browsersPath]: { label: 'browsers', show: browsers.show, submit: browsers.signOut, bytesMax: smallFormBytesMax },
    [authorizePath]: { label: 'authorize', show: authorize.show, submit: authorize.answer },
    [forgotPath]: { label: 'forgot', show: forgotten.showForgot, submit: forgotten.askForLink },
    [resetPath]: { label: 'reset', show: forgotten.show, submit: forgotten.reset },
  }

  return function route(head: RequestHead): Route | StreamedRoute | NoRoute | undefined {
    const { path, method } = head
    const isReading = method === 'GET' || method === 'HEAD'
    // Below it is what sites and payment providers send.
    if (path.startsWith('/api/v1/') && !path.startsWith('/api/v1/growth/')) {
      if (!isReading && !isFromOwnPage(head)) return refused('workspace_access_denied')
      return routeOperation(head)
    }
    if (sharedPaths.includes(path))
      return isReading ? page('shared', () => sharedPage(clock.now())) : refused('method_not_allowed', 'GET, HEAD')
    if (path !== '/dashboard' && !path.startsWith('/dashboard/')) return undefined
    if (!isReading && !isFromOwnPage(head)) return refused('workspace_access_denied')
    if (path === signOutPath)
      return method === 'POST' ? page('sign-out', signOut) : refused('method_not_allowed', 'POST')
    if (path === forgotPath && !isMailSetUp()) return page('forgot', () => redirect(signInPath))
    const form = Object.hasOwn(forms, path) ? forms[path] : undefined
    if (form !== undefined && method === 'POST') {
      return page(form.label, form.submit, form.bytesMax ?? signInFormBytesMax)
    }
    if (!isReading) return refused('method_not_allowed', form === undefined ? 'GET, HEAD' : 'GET, HEAD, POST')
    if (form !== undefined) return page(form.label, form.show)
    const asset = Object.hasOwn(assets, path) ? assets[path] : undefined
    if (asset !== undefined) return page('asset', asset)
    if (path === playerPath) return page('player', playerPage)
    return page('page', showPage)
  }

  async function signOut(head: RequestHead): Promise<HttpReply> {
    const token = tokenOf(head.headers.get('cookie'))
    if (token !== undefined) await endBrowserSession(pg, token)
    return redirect(signInPath, [sessionCookie(undefined, isSecure())])
  }

  /**
   * The session in the workspace that the page's address names, where it goes on; null where whoever is signed in is no member of
   * that.
   */
  async function openNamed(head: RequestHead): Promise<Authenticated | null> {
    const cookies = head.headers.get('cookie')
    const session = await authenticator.authenticate(cookies)
    const [token, id] = [tokenOf(cookies), workspaceIn(head.query)]
    if (token === undefined || id === undefined || id === session.workspace.id) return session
    return (await moveBrowserSession(pg, token, id)) ? authenticator.authenticate(sessionCredential(head)) : null
  }

  async function showPage(head: RequestHead): Promise<HttpReply> {
    try {
      const session = await openNamed(head)
      if (session === null) return redirect(withoutWorkspace(addressIn(head)))
      if (session.lacksFactor) return redirect(leadingOn(factorPath, addressIn(head)))
      return shell(await readFirst(head), clock.now())
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
    label: `dashboard.${label}`,
    bodyBytesMax,
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
