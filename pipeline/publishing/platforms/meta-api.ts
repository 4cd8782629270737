/**
 * Requests to Meta's Graph APIs: Facebook's, by which Instagram publishes too, and that of Threads. Paths, fields and
 * error codes are those of Meta's documentation ("Graph API: Handling Errors", "Rate Limits", "Instagram Platform: Error
 * Codes"). Meta supports a version for two years at least.
 */

import { createHmac } from 'node:crypto'
import { membersOf } from '../../../schemas/json-object.ts'
import {
  metaListedMs,
  metaPostsEach,
  metaPublishMs,
  providerClockOffMs,
  providerListBytesMax,
} from '../../../schemas/limits/publish-limits.ts'
import { asRefused, type Call, type ErrorKind, type KnownIds, ProviderError, type Publication } from '../adapter.ts'
import { comparable } from '../cut-text.ts'
import { firstOwn, lookTwice } from '../look-up.ts'
import { bufferBody } from '../media-body.ts'
import { type Answer, type Asked, askProvider, listIn, odd, textIn } from '../request.ts'

export const facebookApi = 'https://graph.facebook.com/v25.0'

export interface MetaCredentials {
  readonly accessToken: string
  /** The secret of the token's app on Facebook, where it was told: an app may require its proof. */
  readonly appSecret?: string
}

export type Calling = Call<MetaCredentials>
export type Signed = Pick<Calling, 'credentials' | 'signal'>
/** Parameters; undefined ones aren't sent. */
export type Fields = Readonly<Record<string, string | undefined>>

/** @throws ProviderError */
export function get(
  { credentials, signal }: Signed,
  url: string,
  query: Fields,
  more: Pick<Asked, 'answerBytesMax'> = {},
): Promise<Answer> {
  const token = credentials.accessToken
  return askProvider({ url: withQuery(url, { ...query, ...proofOf(credentials) }), token, signal, kindOf, ...more })
}

/** @param more the body in place of a form of `fields`. @throws ProviderError */
export function post(
  { credentials, signal }: Signed,
  url: string,
  fields: Fields,
  more: Pick<Asked, 'headers' | 'body' | 'deadlineMs'> = {},
): Promise<Answer> {
  const form = Buffer.from(new URLSearchParams(sent(fields)).toString())
  const token = credentials.accessToken
  const body = bufferBody('application/x-www-form-urlencoded', form)
  const proven = withQuery(url, proofOf(credentials))
  return askProvider({ url: proven, method: 'POST', ...body, ...more, token, signal, kindOf })
}

/** Proves that the app's secret is known, so that a stolen token alone is no use ("Secure Graph API Calls"). */
function proofOf({ accessToken, appSecret }: MetaCredentials): Fields {
  if (appSecret === undefined) return {}
  return { appsecret_proof: createHmac('sha256', appSecret).update(accessToken).digest('hex') }
}

function withQuery(url: string, query: Fields): string {
  const text = new URLSearchParams(sent(query)).toString()
  return text === '' ? url : `${url}?${text}`
}

const sent = (fields: Fields) =>
  Object.entries(fields).filter((field): field is [string, string] => field[1] !== undefined)

/** @returns what Meta says of an object; null where there is none. @throws ProviderError */
export async function find(call: Signed, url: string, query: Fields): Promise<Answer['body'] | null> {
  try {
    return (await get(call, url, query)).body
  } catch (error) {
    const { code, error_subcode: subcode } = membersOf(membersOf((error as Error).cause)['error'])
    if (error instanceof ProviderError && code === missing.code && subcode === missing.subcode) return null
    throw error
  }
}

/** "Object does not exist, cannot be loaded due to missing permissions": those are there, as the account published the object. */
const missing = { code: 100, subcode: 33 }

/** Whether the token is good, but lacks a permission for this. */
export function isPermissionMissing(error: unknown): error is ProviderError {
  if (!(error instanceof ProviderError)) return false
  const { code } = membersOf(membersOf(error.cause)['error'])
  return typeof code === 'number' && isOfPermission(code)
}

const isOfPermission = (code: number) => code === 10 || (code >= 200 && code < 300)

/** The request that publishes. @throws ProviderError, as unpublished where Meta itself refuses it */
export async function publishBy(call: Signed, url: string, fields: Fields): Promise<Answer> {
  try {
    return await post(call, url, fields, { deadlineMs: metaPublishMs })
  } catch (error) {
    throw asRefused(error)
  }
}

/** Ids are parts of paths and links. @throws ProviderError where the answer has none */
export function idIn(body: Readonly<Record<string, unknown>>, field = 'id'): string {
  const id = textIn(body, field)
  if (/^\d{1,32}(_\d{1,32})?$/.test(id)) return id
  throw odd(`The platform's answer has an ${field} that isn't a number`)
}

export interface Listing {
  readonly url: string
  /** Fields of a listed post: its text and its time, and others that are asked for. */
  readonly text: string
  readonly time: string
  readonly others?: string
  /** Where the newest don't come first by themselves. */
  readonly order?: string
  /** How many it shows at once; undefined: `metaPostsEach`. */
  readonly each?: number
  /** How long before the request that publishes it a post's time may lie. */
  readonly begunBeforeMs?: number
  /** Posts that don't count. */
  isLeftOut?(post: Readonly<Record<string, unknown>>): boolean
}

/**
 * The publication of an earlier attempt: the account's post of the same text since then that is no other target's. It
 * is looked for twice, as a new post may be listed late.
 * @throws ProviderError as `unknown` where more was published since then than is listed
 */
export async function findPost(
  call: Calling,
  listing: Listing,
  publication: Publication,
  known: KnownIds,
): Promise<Readonly<Record<string, unknown>> | null> {
  return lookTwice(metaListedMs, call, () => findListed(call, listing, publication, known))
}

async function findListed(
  call: Calling,
  listing: Listing,
  { text, sentAt }: Publication,
  known: KnownIds,
): Promise<Readonly<Record<string, unknown>> | null> {
  const from = (sentAt ?? new Date()).getTime() - providerClockOffMs - (listing.begunBeforeMs ?? 0)
  const { each = metaPostsEach } = listing
  const posts = (await listPosts(call, listing, each)).filter((post) => {
    const time = Date.parse(textIn(post, listing.time))
    if (Number.isNaN(time)) throw odd(`The platform's answer has no ${listing.time}`)
    return time >= from
  })
  const same = posts.filter((post) => !listing.isLeftOut?.(post) && isSameText(post[listing.text], text))
  const ids = same.map((post) => idIn(post))
  const found = await firstOwn(ids, known, posts.length < each)
  return found === null ? null : same[ids.indexOf(found)]!
}

/** An account's newest posts. @throws ProviderError */
export async function listPosts(call: Signed, { url, text, time, others, order }: Listing, count: number) {
  const fields = ['id', text, time, ...(others === undefined ? [] : [others])].join()
  const query = { fields, order, limit: String(count) }
  const { body } = await get(call, url, query, { answerBytesMax: providerListBytesMax })
  return listIn(body, 'data')
}

/** Threads takes the sign off a tag, Instagram that off a mention, and blanks at the ends go. */
function isSameText(listed: unknown, text: string): boolean {
  return compared(String(listed ?? '')) === compared(text)
}

const compared = (text: string) => comparable(text.replace(/[#＃@]/g, ''))

const sessionCodes = [102, 190]
const limitCodes = [4, 17, 32, 341, 613]
/** Faults of Meta's own, and media that it couldn't fetch or hasn't done with yet. */
const passingCodes = [-2, -1, 1, 2, 24, 9004, 9007]
/** Uploads of videos to Facebook that are to be tried again ("Video API: Error Codes"). */
const uploadSubcodes = [6000, 1363011, 1363019, 1363021, 1363030, 1363033, 1363037, 1363041]
const dailyLimit = 2207042
/** Meta takes the account for a sender of spam, under the code of a limit. */
const spam = 2207051

/** Meta refuses with 400, mostly, and a code. The codes 10 and 200 to 299 mean that a permission or a role is missing. */
function kindOf({ status, body }: Answer): ErrorKind | undefined {
  const { code, error_subcode: subcode, is_transient } = membersOf(body['error'])
  if (typeof code !== 'number') return undefined
  if (subcode === spam) return 'permanent'
  const isLimit = limitCodes.includes(code) || (code >= 80_000 && code < 80_100) || subcode === dailyLimit
  if (isLimit) return 'rate_limited'
  if (sessionCodes.includes(code) || isOfPermission(code)) return 'reauthenticate'
  const isOfUpload = uploadSubcodes.includes(code) || uploadSubcodes.includes(subcode as number)
  const isPassing = is_transient === true || isOfUpload || passingCodes.includes(code) || status >= 500
  return isPassing ? 'transient' : 'permanent'
}
