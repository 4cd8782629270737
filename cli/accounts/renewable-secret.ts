/** Secrets that are JSON, named as an OAuth server's answer to a sign-in names them. It may have further fields. */
import type { MetaCredentials } from '../../pipeline/publishing/meta-api.ts'
import type { ExpiringToken, Renewal } from '../../pipeline/publishing/oauth2.ts'
import { CommandFailed } from '../command.ts'

const renewalFields = ['refresh_token', 'client_id', 'client_secret'] as const

/** @param secret an access token, or JSON with all that renews it. @throws CommandFailed, which shows nothing of it */
export function renewableTokenIn(secret: string): { accessToken: string; renewal: Renewal | null } {
  const given = secret.startsWith('{') ? parse(secret) : { access_token: secret }
  const accessToken = given['access_token']
  if (isToken(accessToken)) {
    const renewal = renewalOf(given)
    if (renewal !== null || renewalFields.every((field) => given[field] === undefined)) return { accessToken, renewal }
  }
  const names = renewalFields.join(', ')
  throw new CommandFailed(`the secret must be an access token, or JSON with access_token, and all or none of ${names}`)
}

/** @param secret an access token, or JSON with it and the app's secret. @throws CommandFailed, which shows nothing of it */
export function metaTokenIn(secret: string): MetaCredentials {
  const { access_token: accessToken, app_secret: appSecret } = secret.startsWith('{')
    ? parse(secret)
    : { access_token: secret }
  if (isToken(accessToken) && appSecret === undefined) return { accessToken }
  if (isToken(accessToken) && isToken(appSecret)) return { accessToken, appSecret }
  throw new CommandFailed('the secret must be an access token, or JSON with access_token and app_secret')
}

/** By its end a client's id shows values in another order. */
const googleLines = /^(\S+\.apps\.googleusercontent\.com)\s+(\S+)\s+(\S+)$/

/** @param secret JSON, or a client's id and secret and a refresh token. @throws CommandFailed, which shows nothing of it */
export function googleRenewalIn(secret: string): Renewal {
  const [, client_id, client_secret, refresh_token] = googleLines.exec(secret) ?? []
  const renewal = renewalOf(secret.startsWith('{') ? parse(secret) : { client_id, client_secret, refresh_token })
  if (renewal !== null) return renewal
  const lines = 'the client ID, the client secret and the refresh token'
  throw new CommandFailed(`the secret must be three lines, ${lines}, or JSON with ${renewalFields.join(', ')}`)
}

/** @param secret JSON. Nothing says when its access token ends. @throws CommandFailed, which shows nothing of it */
export function tiktokTokenIn(secret: string): ExpiringToken {
  const { access_token: accessToken, client_key: client_id, ...given } = secret.startsWith('{') ? parse(secret) : {}
  const renewal = renewalOf({ ...given, client_id })
  if (renewal !== null && isToken(accessToken)) return { ...renewal, accessToken, expiresAt: 0 }
  throw new CommandFailed('the secret must be JSON with access_token, refresh_token, client_key and client_secret')
}

function renewalOf(given: Readonly<Record<string, unknown>>): Renewal | null {
  const [refreshToken, clientId, clientSecret] = renewalFields.map((field) => given[field])
  if (!isToken(refreshToken) || !isToken(clientId) || !isToken(clientSecret)) return null
  return { refreshToken, clientId, clientSecret }
}

/** It goes into a header. */
export const isToken = (value: unknown): value is string => typeof value === 'string' && /^[\x21-\x7e]+$/.test(value)

function parse(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text)
  } catch {
    // Its message would show a part of the secret.
    return {}
  }
}
