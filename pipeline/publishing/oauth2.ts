/** Renewal of an access token by a refresh token (RFC 6749, section 6). */
import { ProviderError } from './adapter.ts'
import { bufferBody } from './media-body.ts'
import { askProvider } from './request.ts'

export interface Renewal {
  readonly refreshToken: string
  readonly clientId: string
  readonly clientSecret: string
}

/**
 * @param isBasic the app's id and secret go into a header, not into the form
 * @returns the fields of the answer. @throws ProviderError, `reauthenticate` where the token is taken no more
 */
export async function renewToken(
  url: string,
  { refreshToken, clientId, clientSecret }: Renewal,
  signal: AbortSignal,
  isBasic = false,
): Promise<Record<string, unknown>> {
  const form = new URLSearchParams({
    ...{ grant_type: 'refresh_token', refresh_token: refreshToken },
    ...(!isBasic && { client_id: clientId, client_secret: clientSecret }),
  })
  const { headers, body } = bufferBody('application/x-www-form-urlencoded', Buffer.from(form.toString()))
  const basic = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`
  try {
    const sent = { method: 'POST', headers: { ...headers, ...(isBasic && { authorization: basic }) }, body } as const
    return (await askProvider({ url, ...sent, signal })).body
  } catch (error) {
    if (!(error instanceof ProviderError) || error.failure.kind !== 'permanent') throw error
    const failure = { kind: 'reauthenticate', code: 'not_authorized' } as const
    throw new ProviderError(failure, error.message, { cause: error.cause })
  }
}

/** The same with the refresh token that an answer has, if it has one. */
export function renewedBy<Kept extends Renewal>(kept: Kept, answer: Readonly<Record<string, unknown>>): Kept {
  const next = answer['refresh_token']
  return typeof next === 'string' && next !== '' ? { ...kept, refreshToken: next } : kept
}
