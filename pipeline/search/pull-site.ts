/**
 * One turn of pulling a site. Search Console is asked for the totals of all days that may be read. A day whose total isn't that of
 * the stored one is pulled and replaced whole, the newest first. So the first pull, a correction of Google's and
 * the rest of a turn that was cut short are one case. Held by test/integration/search-terms.test.ts.
 */
import type { ClickHouse } from '../../clickhouse/client.ts'
import {
  insertSearchDays,
  readStoredTotals,
  type SearchDay,
  type SearchFigures,
  type SearchList,
  type SearchTerm,
} from '../../clickhouse/rollups/search-days.ts'
import type { EndedPull, LeasedSite } from '../../postgres/tables/figures/search-pulls.ts'
import type { SecretBox } from '../../runtime/crypto/secret-box.ts'
import { inPortions } from '../../runtime/lists.ts'
import {
  searchDaysEach,
  searchDaysPerInsert,
  searchEveryMs,
  searchJitterShare,
  searchMonthsMax,
  searchPagesKept,
  searchPairsKept,
  searchQueriesKept,
  searchRowsEach,
  searchRowsReadMax,
  searchTurnMs,
} from '../../schemas/limits/search-limits.ts'
import { searchTimeZone } from '../../schemas/resources/search-terms.ts'
import { readableFrom } from '../../schemas/time/readable-from.ts'
import { dateOfDay, dayMs, localDayAt } from '../../schemas/time/time-zone.ts'
import { ProviderError } from '../publishing/adapter.ts'
import { queryDays, queryTerms, type SearchConsole } from './search-console.ts'
import { askAccessToken, type GoogleReach, type ServiceAccount } from './service-account.ts'

export interface PullContext extends Omit<GoogleReach, 'signal'> {
  readonly ch: Pick<ClickHouse, 'query' | 'insertRows'>
  readonly box: SecretBox
}

/** @throws ProviderError where Google can't be asked; days that were stored by then stay */
export async function pullSite(context: PullContext, leased: LeasedSite, signal: AbortSignal): Promise<EndedPull> {
  const { ch, box, clock, dispatcher } = context
  const startedAt = performance.now()
  const now = clock.now()
  const account = openAccount(box, leased.sealed)
  const reach = { clock, dispatcher, signal }
  const console = { ...reach, token: await askAccessToken(account, reach), site: leased.site }
  const ofSite = { workspaceId: leased.workspace.id, site: leased.id }
  const from = firstDay(leased, now)
  const totals = await queryDays(console, from, Math.max(from, localDayAt(now, searchTimeZone)))
  const stored = await readStoredTotals(ch, ofSite, from)
  const due = changedDays(totals, stored)
  let pulled = 0
  for (const days of inPortions(due.slice(0, searchDaysEach), searchDaysPerInsert)) {
    if (performance.now() - startedAt >= searchTurnMs) break
    const read: SearchDay[] = []
    for (const day of days) {
      const total = totals.get(day)
      const lists = { total: listOf(total), ...(total === undefined ? noLists : await readLists(console, day)) }
      // A clock that ran ahead may have stored the day.
      const version = Math.max(now, (stored.get(day)?.version ?? 0) + 1)
      read.push({ day, version, lists })
    }
    await insertSearchDays(ch, ofSite, read)
    pulled += days.length
  }
  const isWhole = pulled === due.length
  const dataThrough = totals.size === 0 ? null : dateOfDay(Math.max(...totals.keys()))
  return {
    nextAt: new Date(isWhole ? now + everyMs() : now),
    pulledAt: isWhole ? new Date(now) : null,
    dataThrough,
    dataFrom: dateOfDay(from),
  }
}

/** @throws ProviderError that isn't final: another process may have the right `SECRET_KEY` */
function openAccount(box: SecretBox, sealed: Buffer): ServiceAccount {
  const account = box.open(sealed)
  if (account !== null) return JSON.parse(account)
  const failure = { kind: 'transient', code: 'not_authorized' } as const
  throw new ProviderError(failure, 'The key was stored under another SECRET_KEY: connect the site anew')
}

/** The first day that Search Console has and the workspace may read. */
function firstDay({ workspace, deleted_before }: LeasedSite, now: number): number {
  const date = new Date(localDayAt(now, searchTimeZone) * dayMs)
  const oldest = date.setUTCMonth(date.getUTCMonth() - searchMonthsMax) / dayMs
  return Math.max(oldest, localDayAt(readableFrom({ ...workspace, deleted_before }, now), workspace.timezone))
}

/** The newest first. A stored day that Search Console has no more, between days that it has, is among them: it is emptied. */
function changedDays(totals: ReadonlyMap<number, SearchFigures>, stored: ReadonlyMap<number, SearchFigures>): number[] {
  const [first, last] = [Math.min(...totals.keys()), Math.max(...totals.keys())]
  const isGone = (day: number) => !totals.has(day) && stored.get(day)!.impressions > 0 && day > first && day < last
  return [
    ...[...totals.keys()].filter((day) => !isSame(totals.get(day)!, stored.get(day))),
    ...[...stored.keys()].filter(isGone),
  ].sort((one, other) => other - one)
}

function isSame(total: SearchFigures, stored: SearchFigures | undefined): boolean {
  if (stored === undefined) return false
  const { clicks, impressions, position } = stored
  return total.clicks === clicks && total.impressions === impressions && Math.abs(total.position - position) < 1e-9
}

const noLists = { query: listOf(), page: listOf(), pair: listOf() }

function listOf(figures?: SearchFigures): SearchList {
  return { terms: figures === undefined ? [] : [{ query: '', page: '', ...figures }], isCut: false }
}

async function readLists(console: SearchConsole, day: number) {
  return {
    query: await readList(console, { day, dimensions: ['query'], kept: searchQueriesKept }),
    page: await readList(console, { day, dimensions: ['page'], kept: searchPagesKept }),
    pair: await readList(console, { day, dimensions: ['query', 'page'], kept: searchPairsKept }),
  }
}

interface ListOfDay {
  readonly day: number
  readonly dimensions: readonly ('query' | 'page')[]
  readonly kept: number
}

/** All of the list is read: Google orders it by clicks alone, and most rows have none. */
async function readList(console: SearchConsole, { day, dimensions, kept }: ListOfDay): Promise<SearchList> {
  const terms: SearchTerm[] = []
  for (let startRow = 0; startRow < searchRowsReadMax; startRow += searchRowsEach) {
    const rows = await queryTerms(console, { day, dimensions, startRow })
    terms.push(...rows)
    if (rows.length < searchRowsEach) break
  }
  terms.sort((one, other) => other.clicks - one.clicks || other.impressions - one.impressions)
  return { terms: terms.slice(0, kept), isCut: terms.length > kept }
}

/** Jitter spreads the pulls of sites that were connected together. */
function everyMs(): number {
  return searchEveryMs * (1 - Math.random() * searchJitterShare)
}
