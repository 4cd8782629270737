/**
 * Requests to platforms: with a deadline, without following redirects, and with bounded answers. A failure becomes a
 * ProviderError that says whether trying again may help.
 */
import { type Dispatcher, request } from 'undici'
import { within } from '../../runtime/deadline.ts'
import { failureText } from '../../runtime/outbound/failure-text.ts'
import { readAtMost } from '../../runtime/outbound/read-at-most.ts'
import { isUnsent } from '../../runtime/outbound/unsent.ts'
import { exceedsJsonLimits } from '../../schemas/json-body.ts'
import { isObject, membersOf } from '../../schemas/json-object.ts'
import { storable } from '../../schemas/json-text.ts'
import {
  providerAnswerBytesMax,
  providerRequestMs,
  providerTextLengthMax,
  signedTimeApartMaxMs,
} from '../../schemas/limits/publish-limits.ts'
import { type ErrorKind, ProviderError } from './adapter.ts'

export interface Asked {
  readonly url: string
  readonly method?: 'GET' | 'POST' | 'PUT'
  readonly token?: string
  /** Stands in the address. An answer that repeats it, such as that of a proxy, is read without it. */
  readonly secret?: string
  /** Sent otherwise, as in a form. A refusal that repeats any of them is read without it. */
  readonly sentSecrets?: readonly string[]
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON. */
  readonly json?: object
  /** Sent as it is, with its length among the headers. */
  readonly body?: AsyncIterable<Uint8Array>
  readonly deadlineMs?: number
  /** Undefined: `providerAnswerBytesMax`. */
  readonly answerBytesMax?: number
  readonly signal: AbortSignal
  /** The kind of a refusal where the platform means something else by its status; undefined: as by its status. */
  readonly kindOf?: (refusal: Answer) => ErrorKind | undefined
  /** Whole numbers that JSON.parse would round are read as texts. */
  readonly hasLongNumbers?: boolean
  /** The answer is a form, but for refusals. */
  readonly isForm?: boolean
  /** For an address that comes from outside. */
  readonly dispatcher?: Dispatcher
}

export interface Answer {
  readonly status: number
  /** An empty object where the body is none. */
  readonly body: Record<string, unknown>
  header(name: string): string | undefined
}

/** @throws ProviderError: transient where no answer came; by its status where it isn't 2xx, or among `expected` */
export async function askProvider(asked: Asked, expected: readonly number[] = []): Promise<Answer> {
  const answer = await send(asked)
  if ((answer.status >= 200 && answer.status < 300) || expected.includes(answer.status)) return answer
  throw refusalOf(answer, asked.kindOf?.(answer) ?? kindOf(answer))
}

async function send(asked: Asked): Promise<Answer> {
  const { url, method = 'GET', token, secret, headers, json, body, deadlineMs, signal, dispatcher } = asked
  return within(deadlineMs ?? providerRequestMs, signal, async (ending) => {
    try {
      const response = await request(url, {
        method,
        headers: {
          accept: 'application/json',
          'user-agent': 'svc',
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
          ...(json !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        body: json === undefined ? ((body as never) ?? null) : JSON.stringify(json),
        signal: ending,
        ...(dispatcher && { dispatcher }),
      })
      const { bytes, isWhole } = await readAtMost(response.body, asked.answerBytesMax ?? providerAnswerBytesMax)
      if (!isWhole) throw odd('The platform answered more than can be read')
      // Some platforms repeat the token that they refuse, and refusals are shown to whoever may read posts.
      const hidden = response.statusCode < 300 ? [secret] : [secret, token, ...(asked.sentSecrets ?? [])]
      const text = hide(bytes.toString('utf8'), hidden)
      return {
        status: response.statusCode,
        body:
          asked.isForm && response.statusCode < 300
            ? readForm(text)
            : parse(text, response.statusCode, asked.hasLongNumbers),
        header: (name) => {
          const value = response.headers[name]
          return Array.isArray(value) ? value[0] : value
        },
      }
    } catch (error) {
      if (error instanceof ProviderError || signal.aborted) throw error
      const said = ending.aborted
        ? 'The platform did not answer in time'
        : `The platform could not be reached: ${failureText(error)}`
      const failure = { kind: 'transient', code: 'unreachable', isUnpublished: isUnsent(error) } as const
      throw new ProviderError(failure, said, { cause: error })
    }
  })
}

/** Replaces secrets in a text by `…`, also in their JSON-escaped form, with and without escaped slashes. */
export function hide(text: string, secrets: readonly (string | undefined)[]): string {
  const written = secrets.flatMap((one) => {
    const escaped = JSON.stringify(one ?? '').slice(1, -1)
    return one ? [one, escaped, escaped.replaceAll('/', '\\/')] : []
  })
  return written.reduce((said, one) => said.replaceAll(one, '…'), text)
}

function parse(text: string, status: number, hasLongNumbers = false): Record<string, unknown> {
  if (text === '') return {}
  try {
    if (exceedsJsonLimits(text)) throw new SyntaxError('deeper, or with longer numbers, than any platform answers')
    const parsed: unknown = JSON.parse(hasLongNumbers ? quoteLongNumbers(text) : text, harmless)
    return typeof parsed === 'object' && parsed !== null ? (parsed as Record<string, unknown>) : {}
  } catch {
    // A proxy's page in front of a platform that is down.
    if (status >= 300) return {}
    throw odd('The platform answered something else than JSON')
  }
}

function readForm(text: string): Record<string, unknown> {
  return Object.fromEntries([...new URLSearchParams(text)].map(([name, value]) => [name, harmless(name, value)]))
}

/**
 * The answer's texts are stored: in results, in the account's health and in its metadata. An object with members that are called
 * as its own functions are couldn't be turned into a text: `String` would throw.
 */
function harmless(name: string, value: unknown): unknown {
  if (name === 'toString' || name === 'valueOf') return undefined
  return typeof value === 'string' ? storable(value) : value
}

/** Numbers of 16 digits may be more than 2^53. Strings are passed over, also one without an end. */
function quoteLongNumbers(json: string): string {
  return json.replace(/"(?:[^"\\]|\\.)*"?|-?\d{16,}(?![\d.eE])/gs, (found) =>
    found.startsWith('"') ? found : `"${found}"`,
  )
}

/** An answer that the platform's interface doesn't have: it may be another one's, in front of it. */
export function odd(message: string): ProviderError {
  return new ProviderError({ kind: 'transient', code: 'unexpected_answer' }, message)
}

/** A field that the platform's interface declares as text. @throws ProviderError where it isn't */
export function textIn(body: Readonly<Record<string, unknown>>, field: string): string {
  const value = body[field]
  if (typeof value === 'string' && value !== '') return value
  throw odd(`The platform's answer has no ${field}`)
}

/** The object in a field of an answer. @throws ProviderError where it is none */
export function objectIn(body: Readonly<Record<string, unknown>>, field: string): Record<string, unknown> {
  const value = body[field]
  if (typeof value === 'object' && value !== null) return value as Record<string, unknown>
  throw odd(`The platform's answer has no ${field}`)
}

/** The objects of a list; other entries are passed over. */
export function listIn(body: Readonly<Record<string, unknown>>, field: string): Record<string, unknown>[] {
  return Object.values(objectIn(body, field)).filter(isObject)
}

/** A count of likes or the like, written as a number or as its digits; null where it is none. */
export function countIn(value: unknown): number | null {
  const count = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value
  return typeof count === 'number' && Number.isSafeInteger(count) && count >= 0 ? count : null
}

const kinds: Readonly<Record<number, ErrorKind>> = {
  401: 'reauthenticate',
  403: 'reauthenticate',
  408: 'transient',
  425: 'transient',
  429: 'rate_limited',
}
/** How `publish_result` names a failure of a kind. */
export const codes: Readonly<Record<ErrorKind, string>> = {
  reauthenticate: 'not_authorized',
  permanent: 'refused',
  transient: 'unavailable',
  rate_limited: 'rate_limited',
  unknown: 'outcome_unknown',
}

/** A refusal's kind where the secret stands in the address: an unknown one isn't found. Undefined: as any platform's. */
export function kindOfAddressed(status: number): ErrorKind | undefined {
  if (status === 403) return 'permanent'
  return status === 401 || status === 404 ? 'reauthenticate' : undefined
}

/** For platforms that may refuse with 200 as well. */
export function refusalOf(answer: Answer, kind: ErrorKind): ProviderError {
  const { status, body } = answer
  const failure = { kind, code: codes[kind], retryAfterMs: waitOf(answer, kind) }
  const first = (body['errors'] as Record<string, unknown>[] | undefined)?.[0]
  // Meta's refusals are objects: one text is for people, the other for developers.
  const own = membersOf(body['error'])
  const texts = [
    body['message'],
    body['error_description'],
    body['error'],
    own['error_user_msg'],
    own['message'],
    first?.['message'],
    body['detail'],
    body['description'],
  ]
  const said = texts.find((text) => typeof text === 'string' && text !== '')
  const text = cutText(String(said ?? 'no reason given'))
  return new ProviderError(failure, `The platform answered ${status}: ${text}`, { cause: body })
}

/** As much of a platform's text as is kept. */
export function cutText(text: string): string {
  return [...text].slice(0, providerTextLengthMax).join('')
}

/**
 * Whether this machine's clock is so far from the platform's that its signatures are refused. The
 * key itself is good, so whoever has it needn't connect again.
 */
export function isClockOff({ header }: Answer): boolean {
  return Math.abs(Date.parse(header('date') ?? '') - Date.now()) > signedTimeApartMaxMs
}

/** A platform that refuses the credentials names an `error`. A 401 or 403 without one comes from a proxy in front of it. */
function kindOf({ status, body }: Answer): ErrorKind {
  const kind = kinds[status] ?? (status >= 500 ? 'transient' : 'permanent')
  return kind === 'reauthenticate' && typeof body['error'] !== 'string' ? 'transient' : kind
}

/**
 * By the seconds in the answer (Discord, Telegram), or by `Retry-After`. Else, where a limit refuses, by when its window
 * ends: in seconds since 1970 (Bluesky, X) or from now (Pinterest), or as a date (Mastodon). Platforms name that window
 * in all of their answers.
 */
function waitOf({ header, body }: Answer, kind: ErrorKind): number | undefined {
  const seconds = body['retry_after'] ?? membersOf(body['parameters'])['retry_after']
  if (typeof seconds === 'number' && seconds >= 0) return Math.ceil(seconds * 1000)
  const after = header('retry-after')
  if (after !== undefined) return /^\d+$/.test(after) ? Number(after) * 1000 : untilDate(after)
  if (kind !== 'rate_limited') return undefined
  const regainMs = metaRegainMs(header)
  if (regainMs !== undefined) return regainMs
  const reset = header('ratelimit-reset') ?? header('x-ratelimit-reset') ?? xReset(header)
  if (reset === undefined) return undefined
  if (!/^\d+$/.test(reset)) return untilDate(reset)
  const isFromNow = Number(reset) < secondsOfWindowMax
  return isFromNow ? Number(reset) * 1000 : Math.max(0, Number(reset) * 1000 - Date.now())
}

/** No window is as long as the years since 1970. */
const secondsOfWindowMax = 100_000_000

/** X has windows of 15 minutes and of a day, for the user and for the app. The shorter one is named in all answers. */
function xReset(header: Answer['header']): string | undefined {
  const usedUp = ['x-user-limit-24hour', 'x-app-limit-24hour'].filter((name) => header(`${name}-remaining`) === '0')
  const resets = usedUp.flatMap((name) => header(`${name}-reset`) ?? [])
  return resets.sort().at(-1) ?? header('x-rate-limit-reset')
}

/** Meta names minutes for each kind of limit of a page or account ("Rate Limits" of the Graph API); 0 of one that still holds. */
function metaRegainMs(header: Answer['header']): number | undefined {
  const usage = header('x-business-use-case-usage') ?? ''
  const minutes = [...usage.matchAll(/"estimated_time_to_regain_access":(\d{1,6})/g)].map(([, text]) => Number(text))
  const most = Math.max(0, ...minutes)
  return most > 0 ? most * 60_000 : undefined
}

function untilDate(text: string): number | undefined {
  const time = Date.parse(text)
  return Number.isNaN(time) ? undefined : Math.max(0, time - Date.now())
}
