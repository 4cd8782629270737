/**
 * Secrets as platforms give them: a token, lines, or JSON. JSON has the names of an OAuth server's answer to a sign-in, and may have
 * further members.
 */
import { discordWebhookIn } from '../../schemas/chat-kinds.ts'
import type { OAuth1Keys } from '../publishing/oauth1.ts'
import type { ExpiringToken, Renewal } from '../publishing/oauth2.ts'
import type { DiscordCredentials } from '../publishing/platforms/discord.ts'
import type { MetaCredentials } from '../publishing/platforms/meta-api.ts'
import type { TelegramCredentials } from '../publishing/platforms/telegram.ts'
import { ConnectingRefused } from './connecting-refused.ts'

const renewalFields = ['refresh_token', 'client_id', 'client_secret'] as const

/** @param secret an access token, or JSON with all that renews it. @throws ConnectingRefused */
export function renewableTokenIn(secret: string): { accessToken: string; renewal: Renewal | null } {
  const given = secret.startsWith('{') ? parse(secret) : { access_token: secret }
  const accessToken = given['access_token']
  if (isToken(accessToken)) {
    const renewal = renewalOf(given)
    if (renewal !== null || renewalFields.every((field) => given[field] === undefined)) return { accessToken, renewal }
  }
  const names = renewalFields.join(', ')
  throw new ConnectingRefused(
    'secret',
    `must be an access token, or JSON with access_token, and all or none of ${names}`,
  )
}

/** @param secret an access token, or JSON with it and the app's secret. @throws ConnectingRefused */
export function metaTokenIn(secret: string): MetaCredentials {
  const { access_token: accessToken, app_secret: appSecret } = secret.startsWith('{')
    ? parse(secret)
    : { access_token: secret }
  if (isToken(accessToken) && appSecret === undefined) return { accessToken }
  if (isToken(accessToken) && isToken(appSecret)) return { accessToken, appSecret }
  throw new ConnectingRefused('secret', 'must be an access token, or JSON with access_token and app_secret')
}

/** By its end a client's id shows values in another order. */
const googleLines = /^(\S+\.apps\.googleusercontent\.com)\s+(\S+)\s+(\S+)$/

/** @param secret JSON, or a client's id and secret and a refresh token. @throws ConnectingRefused */
export function googleRenewalIn(secret: string): Renewal {
  const [, client_id, client_secret, refresh_token] = googleLines.exec(secret) ?? []
  const renewal = renewalOf(secret.startsWith('{') ? parse(secret) : { client_id, client_secret, refresh_token })
  if (renewal !== null) return renewal
  const lines = 'the client ID, the client secret and the refresh token'
  throw new ConnectingRefused('secret', `must be three lines, ${lines}, or JSON with ${renewalFields.join(', ')}`)
}

/** @param secret JSON. Nothing says when its access token ends. @throws ConnectingRefused */
export function tiktokTokenIn(secret: string): ExpiringToken {
  const { access_token: accessToken, client_key: client_id, ...given } = secret.startsWith('{') ? parse(secret) : {}
  const renewal = renewalOf({ ...given, client_id })
  if (renewal !== null && isToken(accessToken)) return { ...renewal, accessToken, expiresAt: 0 }
  throw new ConnectingRefused('secret', 'must be JSON with access_token, refresh_token, client_key and client_secret')
}

function renewalOf(given: Readonly<Record<string, unknown>>): Renewal | null {
  const [refreshToken, clientId, clientSecret] = renewalFields.map((field) => given[field])
  if (!isToken(refreshToken) || !isToken(clientId) || !isToken(clientSecret)) return null
  return { refreshToken, clientId, clientSecret }
}

/** @param secret an access token. @throws ConnectingRefused */
export function tokenIn(secret: string): { accessToken: string } {
  if (isToken(secret)) return { accessToken: secret }
  throw new ConnectingRefused('secret', 'must be an access token')
}

/** @param secret a bot's token, which goes into a path. @throws ConnectingRefused */
export function botTokenIn(secret: string): TelegramCredentials {
  if (/^\d{1,20}:[\w-]{20,}$/.test(secret)) return { token: secret }
  throw new ConnectingRefused('secret', "must be a bot's token, as @BotFather gives it")
}

/** @param secret the address of an incoming webhook. @throws ConnectingRefused */
export function discordCredentialsIn(secret: string): DiscordCredentials {
  const address = URL.canParse(secret) ? new URL(secret) : null
  const webhook = address && discordWebhookIn(address)
  // A query would name a thread of the channel, or another version of the answer.
  if (webhook && address.search === '' && address.hash === '') return webhook
  throw new ConnectingRefused('secret', 'must be the address of a webhook: https://discord.com/api/webhooks/…')
}

/** The access token of a user begins with the user's id, which shows values in another order. */
const xValues = /^(\S+)\s+(\S+)\s+(\d+-\S+)\s+(\S+)$/

/** @param secret an app's key and secret, and a token and its secret. @throws ConnectingRefused */
export function xKeysIn(secret: string): OAuth1Keys {
  const found = xValues.exec(secret)
  if (found === null) {
    const lines = 'API key, API key secret, access token, access token secret'
    throw new ConnectingRefused('secret', `must be four lines: ${lines}`)
  }
  const [, apiKey, apiKeySecret, token, tokenSecret] = found as unknown as [string, string, string, string, string]
  return { apiKey, apiKeySecret, token, tokenSecret }
}

/** It goes into a header. */
const isToken = (value: unknown): value is string => typeof value === 'string' && /^[\x21-\x7e]+$/.test(value)

function parse(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text)
  } catch {
    // Its message would show a part of the secret.
    return {}
  }
}
