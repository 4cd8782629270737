/**
 * Finishes a sign-in: exchanges what the browser brought back for a token. The result is a secret as somebody may paste it, so
 * that accounts are connected, published to and renewed in one way.
 */
import { providers } from '../../schemas/reference/providers.ts'
import type { Reach } from '../publishing/adapter.ts'
import { requestTokens } from '../publishing/oauth2.ts'
import { facebookApi } from '../publishing/platforms/meta-api.ts'
import { threadsHost } from '../publishing/platforms/threads.ts'
import { askProvider, cutText, odd, textIn } from '../publishing/request.ts'
import { type Choice, listChoices } from './account-choices.ts'
import { type AskOptions, askPlatform } from './ask-platform.ts'
import type { KeptSignIn, PlatformApp } from './begin-sign-in.ts'
import { ConnectingRefused } from './connecting-refused.ts'
import { platformOAuth } from './platform-oauth.ts'
import type { GivenAccount } from './sign-in.ts'
import { exchangeXToken } from './x-sign-in.ts'

/** The query that the browser came back with, but for the state. */
export interface Returned {
  readonly code?: string | undefined
  readonly iss?: string | undefined
  readonly error?: string | undefined
  readonly error_description?: string | undefined
  /** X sends these. */
  readonly oauth_verifier?: string | undefined
  readonly denied?: string | undefined
}

/** A sign-in whose token is there. It is stored sealed while somebody chooses. */
export interface FinishedSignIn {
  readonly kept: Omit<KeptSignIn, 'app' | 'proof' | 'redirect'>
  readonly secret: string
  /** Null: the platform offers none. */
  readonly choices: readonly Choice[] | null
}

/** @throws ConnectingRefused */
export async function finishSignIn(
  signIn: KeptSignIn,
  returned: Returned,
  options: AskOptions,
): Promise<FinishedSignIn> {
  const { app, proof, redirect: _, ...kept } = signIn
  const { platform } = kept
  const code = codeIn(signIn, returned)
  const secrets = [code, proof, app.clientSecret].join(' ')
  const secret = await askPlatform(platform, secrets, options, (reach) => secretBy(signIn, code, reach))
  const choices = await askPlatform(platform, secret, options, (reach) =>
    listChoices(platform, secret, app.scopes, reach),
  )
  return { kept, secret, choices }
}

/** @param choice undefined: the platform offers none @returns the values that connect the account */
export function givenBy({ kept, secret }: FinishedSignIn, choice: Choice | undefined): GivenAccount {
  const { platform, url, privacy, renews } = kept
  const isHandleKept = platform === 'linkedin' && renews !== null
  return { platform, secret, url, privacy, ...choice?.fields, ...(isHandleKept && { handle: renews.handle }) }
}

function codeIn({ platform, url }: KeptSignIn, { code, iss, error, error_description, ...ofX }: Returned): string {
  const { label } = providers[platform]
  if (error !== undefined || ofX.denied !== undefined) {
    const said = error === undefined || error === 'access_denied' ? '' : `: ${cutText(error_description || error)}`
    throw new ConnectingRefused(null, `The sign-in was declined at ${label}${said}`)
  }
  // Another server's answer would be sent to this one.
  const issuer = platform === 'x' ? undefined : platform === 'mastodon' ? url : platformOAuth[platform].issuer
  if (iss !== undefined && issuer !== undefined && iss.replace(/\/$/, '') !== issuer) {
    throw new ConnectingRefused(null, `The answer isn't one of ${label}: begin the sign-in again`)
  }
  const found = platform === 'x' ? ofX.oauth_verifier : code
  if (found !== undefined && found !== '') return found
  throw new ConnectingRefused(null, `${label} sent no code: begin the sign-in again`)
}

async function secretBy(signIn: KeptSignIn, code: string, reach: Reach): Promise<string> {
  const { platform, app, proof, redirect, url = '' } = signIn
  if (platform === 'x') {
    const requested = { token: signIn.requestToken ?? '', tokenSecret: proof }
    const { token, tokenSecret } = await exchangeXToken(app, requested, code, reach)
    return [app.clientId, app.clientSecret, token, tokenSecret].join('\n')
  }
  const { tokenUrl, takesProof, ...oauth } = platformOAuth[platform]
  const grant = {
    grant_type: 'authorization_code',
    code,
    redirect_uri: redirect,
    ...(takesProof && { code_verifier: proof }),
  }
  // A server that somebody named is behind the guard.
  const options = { signal: reach.signal, ...(url !== '' && { dispatcher: reach.fetching.agent }) }
  const body = await requestTokens(url + tokenUrl, grant, app, options, oauth)
  const token = textIn(body, 'access_token')
  if (platform === 'mastodon') return token
  if (platform === 'threads') return lengthenAtThreads(token, app, reach)
  if (platform === 'facebook' || platform === 'instagram') {
    const longer = await lengthenAtFacebook(token, app, reach)
    return JSON.stringify({ access_token: longer, app_secret: app.clientSecret })
  }
  const { refresh_token } = body
  if (refresh_token === undefined && platform === 'youtube') throw odd('The platform gave no refresh token')
  const id = { [oauth.idField ?? 'client_id']: app.clientId, client_secret: app.clientSecret }
  return JSON.stringify({ access_token: token, ...(refresh_token !== undefined && { refresh_token, ...id }) })
}

/** The first token holds for an hour or two, the longer one for 60 days; tokens of pages that it gives don't end. */
async function lengthenAtFacebook(token: string, app: PlatformApp, { signal }: Reach): Promise<string> {
  const grant = { grant_type: 'fb_exchange_token', fb_exchange_token: token }
  return textIn(await requestTokens(`${facebookApi}/oauth/access_token`, grant, app, { signal }), 'access_token')
}

/** Threads takes the secret in the address alone. */
async function lengthenAtThreads(token: string, { clientSecret }: PlatformApp, { signal }: Reach): Promise<string> {
  const query = { grant_type: 'th_exchange_token', client_secret: clientSecret, access_token: token }
  const url = `${threadsHost}/access_token?${new URLSearchParams(query)}`
  return textIn((await askProvider({ url, secret: clientSecret, signal })).body, 'access_token')
}
