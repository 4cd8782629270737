/** Begins a sign-in at a platform: the address that the browser goes to, and what is kept until it comes back. */
import { createHash } from 'node:crypto'
import { makeLinkToken } from '../../schemas/keys.ts'
import { accountSecretLengthMax } from '../../schemas/limits/publish-limits.ts'
import type { SignInPlatform } from '../../schemas/reference/sign-in-platforms.ts'
import type { Reach } from '../publishing/adapter.ts'
import { askProvider, odd, textIn } from '../publishing/request.ts'
import { type AskOptions, askPlatform } from './ask-platform.ts'
import { ConnectingRefused } from './connecting-refused.ts'
import { platformOAuth } from './platform-oauth.ts'
import { rootOf } from './sign-in.ts'
import { requestXToken } from './x-sign-in.ts'

export interface PlatformApp {
  readonly clientId: string
  readonly clientSecret: string
  /** Those to ask for; empty: what posts need. */
  readonly scopes: readonly string[]
}

/** The account whose connection a sign-in renews. */
export interface Renewed {
  readonly id: number
  readonly handle: string
  /** The choice that it was connected by, as account-choices.ts names it; null where there is none. */
  readonly choice: string | null
}

/** The values of the account that are asked for before the sign-in. */
export interface Wanted {
  readonly platform: SignInPlatform
  readonly url?: string | undefined
  readonly privacy?: string | undefined
  readonly renews: Renewed | null
}

/** It holds secrets: it is stored sealed. */
export interface KeptSignIn extends Wanted {
  readonly app: PlatformApp
  /** Where the platform sends the browser. */
  readonly redirect: string
  /** Proves that the token is asked for by who began the sign-in. */
  readonly proof: string
  /** X's token that the proof is the secret of. */
  readonly requestToken?: string
}

export interface BegunSignIn {
  /** The page of the platform. */
  readonly address: string
  /** The platform sends it back, and the sign-in is known by it. */
  readonly state: string
  readonly kept: KeptSignIn
}

/** @param app null: the platform registers one. @throws ConnectingRefused */
export async function beginSignIn(
  given: Wanted,
  ownApp: PlatformApp | null,
  redirect: string,
  options: AskOptions,
): Promise<BegunSignIn> {
  const { platform } = given
  const wanted = platform === 'mastodon' ? { ...given, url: rootOf(serverOf(given)) } : given
  const asked = <Answer>(work: (reach: Reach) => Promise<Answer>) =>
    askPlatform(platform, ownApp?.clientSecret ?? '', options, work)
  const app = ownApp ?? (await asked((reach) => registerAtMastodon(wanted.url!, redirect, reach)))
  if (platform === 'x') {
    const { token, tokenSecret, address } = await asked((reach) => requestXToken(app, redirect, reach))
    return { address, state: token, kept: { ...wanted, app, redirect, proof: tokenSecret, requestToken: token } }
  }
  const [state, proof] = [makeLinkToken(), makeLinkToken()]
  const oauth = platformOAuth[platform]
  const challenge = createHash('sha256').update(proof).digest('base64url')
  const scopes = app.scopes.length > 0 ? app.scopes : oauth.scopes
  const query = new URLSearchParams({
    response_type: 'code',
    [oauth.idField ?? 'client_id']: app.clientId,
    redirect_uri: redirect,
    state,
    scope: scopes.join(oauth.separator),
    ...(oauth.takesProof && { code_challenge: challenge, code_challenge_method: 'S256' }),
    ...oauth.more,
  })
  const address = `${wanted.url ?? ''}${oauth.authorizeUrl}?${query}`
  return { address, state, kept: { ...wanted, app: { ...app, scopes }, redirect, proof } }
}

function serverOf({ url }: Wanted): string {
  if (url !== undefined) return url
  throw new ConnectingRefused('url', 'is required: the instance, such as https://mastodon.social')
}

/** An instance takes any app. Each sign-in has its own, as instances delete apps that nobody uses. */
async function registerAtMastodon(root: string, redirect: string, { signal, fetching }: Reach): Promise<PlatformApp> {
  const json = { client_name: 'svc', redirect_uris: redirect, scopes: platformOAuth.mastodon.scopes.join(' ') }
  const { body } = await askProvider({
    url: `${root}/api/v1/apps`,
    method: 'POST',
    json,
    signal,
    dispatcher: fetching.agent,
  })
  const [clientId, clientSecret] = [textIn(body, 'client_id'), textIn(body, 'client_secret')]
  if (clientId.length + clientSecret.length > accountSecretLengthMax)
    throw odd('The instance made an app of long names')
  return { clientId, clientSecret, scopes: [] }
}
