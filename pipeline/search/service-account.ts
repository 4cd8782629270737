/**
 * A Google service account's key, and its access tokens. A JWT signed with the key is exchanged for one (Google's
 * documentation: "Using OAuth 2.0 for Server to Server Applications"). The key goes into no error and no log.
 */
import { createPrivateKey, type KeyObject, sign } from 'node:crypto'
import type { Clock } from '../../runtime/clock.ts'
import { searchRequestMs } from '../../schemas/limits/search-limits.ts'
import { hour, second } from '../../schemas/limits/units.ts'
import { ProviderError } from '../publishing/adapter.ts'
import { bufferBody } from '../publishing/media-body.ts'
import { googleTokenUrl } from '../publishing/platforms/google-api.ts'
import { type Asked, askProvider, isClockOff, textIn } from '../publishing/request.ts'

const readsSearchConsole = 'https://www.googleapis.com/auth/webmasters.readonly'

export interface ServiceAccount {
  /** By which people give it access. */
  readonly client_email: string
  readonly private_key: string
  readonly private_key_id: string
}

/** @returns undefined where the text isn't the JSON of a service account's key */
export function serviceAccountIn(text: string): ServiceAccount | undefined {
  const { type, client_email, private_key, private_key_id } = parsed(text)
  const isWhole = [client_email, private_key, private_key_id].every((value) => typeof value === 'string')
  if (type !== 'service_account' || !isWhole || !/^[^\s@]+@[^\s@]+$/.test(String(client_email))) return undefined
  const account = { client_email, private_key, private_key_id } as ServiceAccount
  return keyOf(account)?.asymmetricKeyType === 'rsa' ? account : undefined
}

function parsed(text: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(text))
  } catch {
    return {}
  }
}

function keyOf({ private_key }: ServiceAccount): KeyObject | undefined {
  try {
    return createPrivateKey(private_key)
  } catch {
    return undefined
  }
}

/** How Google is reached. */
export interface GoogleReach {
  readonly clock: Clock
  readonly dispatcher: Asked['dispatcher']
  readonly signal: AbortSignal
}

/** @returns a token for an hour. @throws ProviderError, `reauthenticate` where the key is taken no more */
export async function askAccessToken(
  account: ServiceAccount,
  { clock, dispatcher, signal }: GoogleReach,
): Promise<string> {
  const form = new URLSearchParams({
    grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
    assertion: assertionOf(account, clock.now()),
  })
  const { headers, body } = bufferBody('application/x-www-form-urlencoded', Buffer.from(form.toString()))
  const reach = { signal, deadlineMs: searchRequestMs, ...(dispatcher && { dispatcher }) }
  const answer = await askProvider({
    url: googleTokenUrl,
    method: 'POST',
    headers,
    body,
    ...reach,
    kindOf: (refusal) => {
      const { status, body } = refusal
      if (typeof body['error'] !== 'string' || (status !== 400 && status !== 401)) return undefined
      return isClockOff(refusal) ? 'transient' : 'reauthenticate'
    },
  })
  return textIn(answer.body, 'access_token')
}

function assertionOf(account: ServiceAccount, now: number): string {
  const key = keyOf(account)
  if (key === undefined)
    throw new ProviderError({ kind: 'reauthenticate', code: 'not_authorized' }, 'The key is no key')
  const issuedAt = Math.floor(now / second)
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const signed = `${part({ alg: 'RS256', typ: 'JWT', kid: account.private_key_id })}.${part({
    iss: account.client_email,
    scope: readsSearchConsole,
    aud: googleTokenUrl,
    iat: issuedAt,
    exp: issuedAt + hour / second,
  })}`
  return `${signed}.${sign('RSA-SHA256', Buffer.from(signed), key).toString('base64url')}`
}
