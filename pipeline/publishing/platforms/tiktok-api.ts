/**
 * Requests to TikTok's Content Posting API (TikTok's documentation: "Content Posting API: Direct Post", "Query Creator
 * Info", "Get Post Status", "Refresh a User Access Token"). Access tokens hold for two hours. A refresh token holds once,
 * for 180 days: each renewal gives the next one.
 */
import { membersOf } from '../../../schemas/json-object.ts'
import { minute } from '../../../schemas/limits/units.ts'
import { dayMs } from '../../../schemas/time/time-zone.ts'
import { type Call, type ErrorKind, ProviderError } from '../adapter.ts'
import { type ExpiringToken, type Renewal, signInBy } from '../oauth2.ts'
import { type Answer, type Asked, askProvider, objectIn, odd, refusalOf, textIn } from '../request.ts'

export type Calling = Call<ExpiringToken>
export type Signed = Pick<Calling, 'credentials' | 'signal'>
export type Fields = Readonly<Record<string, unknown>>

const api = 'https://open.tiktokapis.com/v2'
export const tiktokTokenUrl = `${api}/oauth/token/`

/** @returns the answer's `data`. @throws ProviderError */
export async function post(call: Signed, path: string, json: object): Promise<Fields> {
  const headers = { 'content-type': 'application/json; charset=UTF-8' }
  return ask(call, { url: `${api}/post/publish/${path}/`, method: 'POST', headers, json })
}

/** The account's id, which is the app's own for it. */
export async function readOpenId(call: Signed): Promise<string> {
  return textIn(objectIn(await ask(call, { url: `${api}/user/info/?fields=open_id` }), 'user'), 'open_id')
}

async function ask({ credentials, signal }: Signed, asked: Omit<Asked, 'token' | 'signal'>): Promise<Fields> {
  const more = { token: credentials.accessToken, signal, kindOf, hasLongNumbers: true }
  try {
    const answer = await askProvider({ ...asked, ...more })
    if (codeIn(answer.body) !== 'ok') throw refusalOf(answer, kindOf(answer) ?? 'transient')
    return objectIn(answer.body, 'data')
  } catch (error) {
    throw error instanceof ProviderError ? explained(error) : error
  }
}

/** @param body an answer's body. @returns TikTok's own code, or undefined where it has none */
export function codeIn(body: unknown): string | undefined {
  const { code } = membersOf(membersOf(body)['error']) as { code?: unknown }
  return typeof code === 'string' && code !== '' ? code : undefined
}

/** Limits of 24 hours, of the account or of the app; and that of a minute. */
const dailyLimits = ['spam_risk_too_many_posts', 'spam_risk_too_many_pending_share', 'reached_active_user_cap']
const minuteLimit = 'rate_limit_exceeded'
export const tokenOver = 'access_token_invalid'
const missingRights = [tokenOver, 'scope_not_authorized', 'scope_permission_missed', 'auth_removed']
/** Faults of TikTok's own. */
const passing = ['internal_error', 'internal']

/** @param code of a refusal, or the reason for which a post failed */
export function kindOfCode(code: string): ErrorKind {
  if (code === minuteLimit || dailyLimits.includes(code)) return 'rate_limited'
  if (missingRights.includes(code)) return 'reauthenticate'
  return passing.includes(code) ? 'transient' : 'permanent'
}

export function waitOfCode(code: string): number | undefined {
  if (dailyLimits.includes(code)) return dayMs
  return code === minuteLimit ? minute : undefined
}

/** Without a code the answer may be a proxy's. */
function kindOf({ status, body }: Answer): ErrorKind | undefined {
  const code = codeIn(body)
  if (code === undefined) return undefined
  return status >= 500 ? 'transient' : kindOfCode(code)
}

/** No header says how long a limit holds. TikTok's texts are the same for several codes, so the code is shown, too. */
function explained(error: ProviderError): ProviderError {
  const code = codeIn(error.cause)
  if (code === undefined || code === 'ok') return error
  const retryAfterMs = error.failure.retryAfterMs ?? waitOfCode(code)
  return new ProviderError({ ...error.failure, retryAfterMs }, `${error.message} (${code})`, { cause: error.cause })
}

/** @throws ProviderError where TikTok doesn't take the refresh token or the app */
export async function renew(renewal: Renewal, signal: AbortSignal): Promise<ExpiringToken> {
  return (await signInBy(tiktokTokenUrl, renewal, signal, { idField: 'client_key' })).credentials
}

export interface Creator {
  readonly username: string
  readonly nickname: string
  /** Who may see its posts, as TikTok names it. */
  readonly levels: readonly string[]
  readonly forbids: { readonly comments: boolean; readonly duets: boolean; readonly stitches: boolean }
}

/** Reads what the account allows now. @throws ProviderError */
export async function readCreator(call: Signed): Promise<Creator> {
  const creator = await post(call, 'creator_info/query', {})
  const levels = creator['privacy_level_options']
  if (!Array.isArray(levels)) throw odd("The platform's answer has no privacy_level_options")
  const username = textIn(creator, 'creator_username')
  const isTrue = (field: string) => creator[field] === true
  return {
    username,
    nickname: String(creator['creator_nickname'] || username),
    levels: levels.map(String),
    forbids: {
      comments: isTrue('comment_disabled'),
      duets: isTrue('duet_disabled'),
      stitches: isTrue('stitch_disabled'),
    },
  }
}
