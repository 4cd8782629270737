/**
 * Requests to the YouTube Data API (Google's documentation: "YouTube Data API: Errors", "Quota and compliance audits",
 * "Using OAuth 2.0 for Web Server Applications"). Access tokens hold for an hour; a refresh token gives the next one.
 */

import { membersOf } from '../../../schemas/json-object.ts'
import { dayMs, wallTimeAt, wallToUtc } from '../../../schemas/time/time-zone.ts'
import { type Call, type ErrorKind, ProviderError } from '../adapter.ts'
import { type ExpiringToken, signInBy } from '../oauth2.ts'
import { type Answer, type Asked, askProvider, odd } from '../request.ts'
import { googleTokenUrl, reasonIn } from './google-api.ts'

const youtubeApi = 'https://www.googleapis.com/youtube/v3'

export type Calling = Call<ExpiringToken>
export type Signed = Pick<Calling, 'credentials' | 'signal'>
export type Fields = Readonly<Record<string, unknown>>

/** @throws ProviderError */
export async function ask(
  { credentials, signal }: Signed,
  asked: Omit<Asked, 'token' | 'signal' | 'kindOf'>,
  expected: readonly number[] = [],
): Promise<Answer> {
  try {
    return await askProvider({ ...asked, token: credentials.accessToken, signal, kindOf }, expected)
  } catch (error) {
    throw error instanceof ProviderError ? withWait(error) : error
  }
}

/** The resources of a list. @throws ProviderError */
export async function list(call: Signed, resource: string, query: Readonly<Record<string, string>>): Promise<Fields[]> {
  const { body } = await ask(call, { url: `${youtubeApi}/${resource}?${new URLSearchParams(query)}` })
  // An answer without `items` doesn't say that there are none, unless it counts them.
  const { items = membersOf(body['pageInfo'])['totalResults'] === 0 ? [] : undefined } = body
  if (!Array.isArray(items)) throw odd("The platform's answer has no items")
  return items
}

/** Quotas of a project begin anew at midnight in California. A channel's own limit of uploads is one of 24 hours. */
const dailyQuotas = ['quotaExceeded', 'dailyLimitExceeded']
const uploadLimit = 'uploadLimitExceeded'
const limits = [...dailyQuotas, uploadLimit, 'rateLimitExceeded', 'userRateLimitExceeded', 'uploadRateLimitExceeded']

/** Google's own refusals name a reason. By 403 a limit is met, or a scope or the channel is missing. */
function kindOf({ status, body }: Answer): ErrorKind | undefined {
  const reason = reasonIn(body)
  if (reason === undefined) return undefined
  if (limits.includes(reason) || status === 429) return 'rate_limited'
  return status === 401 || status === 403 ? 'reauthenticate' : undefined
}

/** No header says when a quota begins anew. */
function withWait(error: ProviderError): ProviderError {
  const reason = reasonIn(error.cause)
  if (reason === undefined || error.failure.retryAfterMs !== undefined) return error
  const retryAfterMs = dailyQuotas.includes(reason) ? untilMidnightMs() : reason === uploadLimit ? dayMs : undefined
  return new ProviderError({ ...error.failure, retryAfterMs }, error.message, { cause: error.cause })
}

function untilMidnightMs(): number {
  const zone = 'America/Los_Angeles'
  const wall = wallTimeAt(Date.now(), zone)
  return wallToUtc(wall - (wall % dayMs) + dayMs, zone) - Date.now()
}

/** @throws ProviderError where Google doesn't take the refresh token or the app */
export async function renew({ credentials, signal }: Signed): Promise<ExpiringToken> {
  return (await signInBy(googleTokenUrl, credentials, signal)).credentials
}
