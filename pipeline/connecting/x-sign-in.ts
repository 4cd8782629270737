/** A sign-in at X by OAuth 1.0a (RFC 5849, section 2), as accounts are published to. Its request token is the state. */
import type { Reach } from '../publishing/adapter.ts'
import { oauth1Header } from '../publishing/oauth1.ts'
import type { AppKeys } from '../publishing/oauth2.ts'
import { xUrl } from '../publishing/platforms/x.ts'
import { askProvider, odd, textIn } from '../publishing/request.ts'

interface XToken {
  readonly token: string
  readonly tokenSecret: string
}

/** @throws ProviderError where X doesn't know the app, or the redirect address isn't one of it */
export async function requestXToken(app: AppKeys, redirect: string, reach: Reach) {
  const none = { token: '', tokenSecret: '' }
  const given = await ask('request_token', app, none, { oauth_callback: redirect }, reach)
  if (given.isConfirmed !== 'true') throw odd('The platform did not confirm the redirect address')
  return { ...given, address: `${xUrl}/oauth/authorize?${new URLSearchParams({ oauth_token: given.token })}` }
}

/** @returns the token of the account. @throws ProviderError */
export function exchangeXToken(app: AppKeys, requested: XToken, verifier: string, reach: Reach): Promise<XToken> {
  return ask('access_token', app, requested, { oauth_verifier: verifier }, reach)
}

async function ask(
  step: 'request_token' | 'access_token',
  { clientId: apiKey, clientSecret: apiKeySecret }: AppKeys,
  token: XToken,
  more: Readonly<Record<string, string>>,
  { signal }: Reach,
) {
  const [method, url] = ['POST', `${xUrl}/oauth/${step}`] as const
  const authorization = oauth1Header({ method, url, parameters: {}, more }, { apiKey, apiKeySecret, ...token })
  const { body } = await askProvider({ url, method, headers: { authorization }, isForm: true, signal })
  return {
    token: textIn(body, 'oauth_token'),
    tokenSecret: textIn(body, 'oauth_token_secret'),
    isConfirmed: body['oauth_callback_confirmed'],
  }
}
