/** Access tokens by OAuth 2.0 (RFC 6749), and their renewal by a refresh token (section 6). */
import { publishAttemptMs } from '../../schemas/limits/publish-limits.ts'
import { minute } from '../../schemas/limits/units.ts'
import { ProviderError } from './adapter.ts'
import { bufferBody } from './media-body.ts'
import { type Asked, askProvider, cutText, hide, odd, textIn } from './request.ts'

/** The app's own names. */
export interface AppKeys {
  readonly clientId: string
  readonly clientSecret: string
}

export interface Renewal extends AppKeys {
  readonly refreshToken: string
}

/** How an app names itself. */
export interface AppFields {
  /** Its id and secret go into a header, not into the form. */
  readonly isBasic?: boolean
  /** The form's field for its id. */
  readonly idField?: string
  /** The kind of a refusal that isn't written as RFC 6749 has it. */
  readonly kindOf?: Asked['kindOf']
}

/**
 * Asks for tokens.
 * @param grant the form's fields but those of the app
 * @returns the fields of the answer. @throws ProviderError
 */
export async function requestTokens(
  url: string,
  grant: Readonly<Record<string, string>>,
  { clientId, clientSecret }: AppKeys,
  reach: Pick<Asked, 'signal' | 'dispatcher'>,
  { isBasic = false, idField = 'client_id', kindOf }: AppFields = {},
): Promise<Record<string, unknown>> {
  const form = new URLSearchParams({
    ...grant,
    ...(!isBasic && { [idField]: clientId, client_secret: clientSecret }),
  })
  const { headers, body } = bufferBody('application/x-www-form-urlencoded', Buffer.from(form.toString()))
  const basic = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`
  const sent = { method: 'POST', headers: { ...headers, ...(isBasic && { authorization: basic }) }, body } as const
  const { grant_type: _, redirect_uri: __, ...secrets } = grant
  const sentSecrets = [...Object.values(secrets), clientSecret]
  const answer = await askProvider({ url, ...sent, ...reach, sentSecrets, ...(kindOf && { kindOf }) })
  refuseErrorIn(answer.body, sentSecrets)
  return answer.body
}

/** @returns the fields of the answer. @throws ProviderError, `reauthenticate` where the token is taken no more */
export async function renewToken(
  url: string,
  { refreshToken, ...app }: Renewal,
  signal: AbortSignal,
  fields?: AppFields,
): Promise<Record<string, unknown>> {
  try {
    const grant = { grant_type: 'refresh_token', refresh_token: refreshToken }
    return await requestTokens(url, grant, app, { signal }, fields)
  } catch (error) {
    if (!(error instanceof ProviderError) || error.failure.kind !== 'permanent') throw error
    const failure = { kind: 'reauthenticate', code: 'not_authorized' } as const
    throw new ProviderError(failure, error.message, { cause: error.cause })
  }
}

/** Some servers refuse with status 200, and with the same `error` in the body. */
function refuseErrorIn(body: Readonly<Record<string, unknown>>, sentSecrets: readonly string[]): void {
  const { access_token, error, error_description } = body
  if (access_token !== undefined || typeof error !== 'string') return
  if (['server_error', 'temporarily_unavailable'].includes(error)) throw odd(`The platform answered ${error}`)
  const message = `The platform refused the token: ${cutText(hide(String(error_description ?? error), sentSecrets))}`
  throw new ProviderError({ kind: 'permanent', code: 'refused' }, message, { cause: body })
}

/** The same with the refresh token that an answer has, if it has one. */
export function renewedBy<Kept extends Renewal>(kept: Kept, answer: Readonly<Record<string, unknown>>): Kept {
  const next = answer['refresh_token']
  return typeof next === 'string' && next !== '' ? { ...kept, refreshToken: next } : kept
}

/** An access token whose end is known. */
export interface ExpiringToken extends Renewal {
  readonly accessToken: string
  /** In milliseconds since 1970. */
  readonly expiresAt: number
}

/** @returns the scopes as well, in one text. @throws ProviderError */
export async function signInBy(
  url: string,
  { refreshToken, clientId, clientSecret }: Renewal,
  signal: AbortSignal,
  app?: AppFields,
): Promise<{ credentials: ExpiringToken; scopes: string }> {
  const renewal = { refreshToken, clientId, clientSecret }
  const body = await renewToken(url, renewal, signal, app)
  const expiresAt = Date.now() + (Number(body['expires_in']) || 0) * 1000
  const credentials = { ...renewedBy(renewal, body), accessToken: textIn(body, 'access_token'), expiresAt }
  return { credentials, scopes: String(body['scope'] ?? '') }
}

/** A whole attempt is made with one token. */
export function isDue({ expiresAt }: ExpiringToken): boolean {
  return expiresAt - Date.now() < publishAttemptMs + minute
}
