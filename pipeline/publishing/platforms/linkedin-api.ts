/**
 * Requests to LinkedIn's versioned API (its documentation: "Versioning", "Posts API", "Refresh Tokens with OAuth 2.0").
 * Each version is supported for a year at least. LinkedIn answers 426 to one that has ended.
 */
import { dayMs } from '../../../schemas/time/time-zone.ts'
import { type Call, type ErrorKind, ProviderError } from '../adapter.ts'
import { type Renewal, renewedBy, renewToken } from '../oauth2.ts'
import { type Answer, type Asked, askProvider, odd, textIn } from '../request.ts'

/** The version of July 2026. */
const linkedinVersion = '202607'
const apiUrl = 'https://api.linkedin.com'
/** How pages are called; others are persons. */
export const pagePrefix = 'urn:li:organization:'
export const isPage = (externalId: string | null) => externalId?.startsWith(pagePrefix) === true
export const linkedinTokenUrl = 'https://www.linkedin.com/oauth/v2/accessToken'

export interface LinkedinCredentials {
  readonly accessToken: string
  /** LinkedIn gives one to apps of its partners only. It renews the access token with the app's own id and secret. */
  readonly renewal: Renewal | null
}

export type Calling = Call<LinkedinCredentials>
export type Signed = Pick<Calling, 'credentials' | 'signal'>
type More = Omit<Asked, 'url' | 'token' | 'signal'>

/** @throws ProviderError */
export async function ask({ credentials, signal }: Signed, path: string, more: More = {}): Promise<Answer> {
  const headers = {
    'linkedin-version': linkedinVersion,
    'x-restli-protocol-version': '2.0.0',
    ...more.headers,
  }
  try {
    const token = credentials.accessToken
    return await askProvider({ ...more, url: apiUrl + path, token, headers, signal, kindOf })
  } catch (error) {
    throw error instanceof ProviderError ? withWait(error) : error
  }
}

/** LinkedIn's own refusals repeat their status in the body. By 403 it names a scope or a role that is missing. */
function kindOf({ status, body }: Answer): ErrorKind | undefined {
  return (status === 401 || status === 403) && body['status'] === status ? 'reauthenticate' : undefined
}

/** Quotas of a day begin anew at midnight UTC, which no header says. */
function withWait(error: ProviderError): ProviderError {
  const { kind, retryAfterMs } = error.failure
  if (kind !== 'rate_limited' || retryAfterMs !== undefined || !/\bDAY\b/.test(error.message)) return error
  const untilMidnightMs = dayMs - (Date.now() % dayMs)
  return new ProviderError({ ...error.failure, retryAfterMs: untilMidnightMs }, error.message, { cause: error.cause })
}

/** @returns null where there is no refresh token. @throws ProviderError where LinkedIn takes it no more */
export async function renew({ credentials, signal }: Signed): Promise<LinkedinCredentials | null> {
  const { renewal } = credentials
  if (renewal === null) return null
  const body = await renewToken(linkedinTokenUrl, renewal, signal)
  return { accessToken: textIn(body, 'access_token'), renewal: renewedBy(renewal, body) }
}

/** The URN of a post that was made: it is part of links. @throws ProviderError where the answer has none */
export function postIdIn({ header }: Answer): string {
  const id = header('x-restli-id') ?? ''
  if (postUrn.test(id)) return id
  throw odd("The platform's answer doesn't say the post's id")
}

const postUrn = /^urn:li:(?:share|ugcPost):\d{1,20}$/
