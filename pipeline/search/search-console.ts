/**
 * Requests to Google's Search Console API ("Search Analytics: query", "Sites: get", "Usage limits"). Failures are
 * ProviderErrors: `reauthenticate` where the key, the API's activation or the property's permission is missing.
 */
import type { SearchFigures, SearchTerm } from '../../clickhouse/rollups/search-days.ts'
import { storable } from '../../schemas/json-text.ts'
import {
  searchAnswerBytesMax,
  searchRequestMs,
  searchRowsEach,
  searchTextLengthMax,
} from '../../schemas/limits/search-limits.ts'
import { dateOfDay, dayMs } from '../../schemas/time/time-zone.ts'
import { type ErrorKind, ProviderError } from '../publishing/adapter.ts'
import { reasonIn } from '../publishing/platforms/google-api.ts'
import { type Answer, type Asked, askProvider, odd } from '../publishing/request.ts'
import type { GoogleReach } from './service-account.ts'

const api = 'https://searchconsole.googleapis.com/webmasters/v3/sites'
const unverified = 'siteUnverifiedUser'

export interface SearchConsole extends GoogleReach {
  readonly token: string
  readonly site: string
}

/** @throws ProviderError where the account may not read the property */
export async function demandReadable(console: SearchConsole): Promise<void> {
  const { body } = await ask(console, { path: '' })
  if (body['permissionLevel'] !== unverified) return
  const failure = { kind: 'reauthenticate', code: 'not_authorized' } as const
  throw new ProviderError(failure, 'The service account has no access to this property')
}

/** Totals of the days from `from` to `to`, by day; those without impressions are missing. Days are since 1970. */
export async function queryDays(console: SearchConsole, from: number, to: number): Promise<Map<number, SearchFigures>> {
  const rows = await query(console, { from, to, dimensions: ['date'], startRow: 0 })
  const days = new Map(rows.map(({ keys: [date], figures }) => [dayOf(date), figures]))
  for (const day of days.keys())
    if (day < from || day > to) throw odd("Google's answer has a day that wasn't asked for")
  return days
}

/** The terms of a day from `startRow` on, `searchRowsEach` at most: by clicks, in any order among equal ones. */
export async function queryTerms(
  console: SearchConsole,
  { day, dimensions, startRow }: { day: number; dimensions: readonly ('query' | 'page')[]; startRow: number },
): Promise<SearchTerm[]> {
  const rows = await query(console, { from: day, to: day, dimensions, startRow })
  return rows.map(({ keys, figures }) => {
    const keyOf = (name: 'query' | 'page') =>
      storable((keys[dimensions.indexOf(name)] ?? '').slice(0, searchTextLengthMax))
    return { query: keyOf('query'), page: keyOf('page'), ...figures }
  })
}

interface Question {
  readonly from: number
  readonly to: number
  readonly dimensions: readonly string[]
  readonly startRow: number
}

interface Row {
  readonly keys: readonly string[]
  readonly figures: SearchFigures
}

async function query(console: SearchConsole, { from, to, dimensions, startRow }: Question): Promise<Row[]> {
  const json = {
    startDate: dateOfDay(from),
    endDate: dateOfDay(to),
    dimensions,
    type: 'web',
    dataState: 'final',
    rowLimit: searchRowsEach,
    startRow,
  }
  const { body } = await ask(console, { path: '/searchAnalytics/query', json })
  // Without any row the answer has no `rows`.
  const { rows = [] } = body
  if (!Array.isArray(rows)) throw odd("Google's answer has no rows")
  return rows.map((row) => rowIn(row, dimensions.length))
}

function rowIn(row: Record<string, unknown>, length: number): Row {
  const { keys, clicks, impressions, position } = Object(row)
  const isWhole =
    Array.isArray(keys) &&
    keys.length === length &&
    keys.every((key) => typeof key === 'string') &&
    [clicks, impressions].every((count) => Number.isInteger(count) && count >= 0 && count < 2 ** 32) &&
    Number.isFinite(position) &&
    position >= 0
  if (!isWhole) throw odd("A row of Google's answer can't be read")
  return { keys, figures: { clicks, impressions, position } }
}

function ask(
  { token, site, dispatcher, signal }: SearchConsole,
  { path, json }: { readonly path: string; readonly json?: object },
): Promise<Answer> {
  return askProvider({
    url: `${api}/${encodeURIComponent(site)}${path}`,
    token,
    signal,
    kindOf,
    deadlineMs: searchRequestMs,
    answerBytesMax: searchAnswerBytesMax,
    ...(json && { method: 'POST', json }),
    ...(dispatcher && { dispatcher }),
  } satisfies Asked)
}

const limits = ['quotaExceeded', 'dailyLimitExceeded', 'rateLimitExceeded', 'userRateLimitExceeded']

/** Google's own refusals name a reason; those of others, such as proxies, pass. */
function kindOf({ status, body }: Answer): ErrorKind | undefined {
  const reason = reasonIn(body)
  if (reason === undefined) return undefined
  if (limits.includes(reason) || status === 429) return 'rate_limited'
  return [401, 403, 404].includes(status) ? 'reauthenticate' : undefined
}

function dayOf(date: string | undefined): number {
  const day = Date.parse(`${date}T00:00:00Z`) / dayMs
  if (Number.isInteger(day)) return day
  throw odd("A date of Google's answer can't be read")
}
