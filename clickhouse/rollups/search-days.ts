/** Writes days of search terms, and tells which are there (migrations/0010_search_days.sql). */
import { randomUUID } from 'node:crypto'
import type { ClickHouse } from '../client.ts'
import { makeLiner } from './tables.ts'

/** Clicks and impressions; `position` is the mean over the impressions. */
export interface SearchFigures {
  readonly clicks: number
  readonly impressions: number
  readonly position: number
}

export interface SearchTerm extends SearchFigures {
  /** Empty in lists of pages. */
  readonly query: string
  /** Empty in lists of queries. */
  readonly page: string
}

export interface SearchList {
  readonly terms: readonly SearchTerm[]
  /** The day has more than these. */
  readonly isCut: boolean
}

const searchKinds = ['total', 'query', 'page', 'pair'] as const
export type SearchKind = (typeof searchKinds)[number]

export interface SearchedSite {
  readonly workspaceId: number
  readonly site: number
}

export interface SearchDay {
  /** Since 1970. */
  readonly day: number
  /** The highest one counts. */
  readonly version: number
  readonly lists: Readonly<Record<SearchKind, SearchList>>
}

const termNames = ['query', 'page', 'clicks', 'impressions', 'position'] as const
const searchDayColumns: readonly string[] = [
  'workspace_id',
  'site',
  'kind',
  'day',
  'version',
  ...termNames.map((name) => `seen.${name}`),
  'is_cut',
]
const lineOf = makeLiner(searchDayColumns)
const insertDeadlineMs = 60_000

/** Replaces days of a site: their rows are one insert of one block, which readers see whole or not at all. */
export async function insertSearchDays(
  ch: Pick<ClickHouse, 'insertRows'>,
  ofSite: SearchedSite,
  days: readonly SearchDay[],
): Promise<void> {
  if (days.length === 0) return
  const bytes = days.flatMap((one) => searchKinds.map((kind) => Buffer.from(lineOfKind(ofSite, one, kind))))
  const token = `search-${ofSite.site}-${days.map(({ day, version }) => `${day}-${version}`).join('-')}`
  await ch.insertRows({
    table: 'search_days',
    columns: searchDayColumns,
    format: 'JSONCompactEachRow',
    bytes,
    token,
    queryId: randomUUID(),
    deadlineMs: insertDeadlineMs,
  })
}

function lineOfKind({ workspaceId, site }: SearchedSite, { day, version, lists }: SearchDay, kind: SearchKind): string {
  const { terms, isCut } = lists[kind]
  const seen = Object.fromEntries(termNames.map((name) => [name, terms.map((term) => term[name])]))
  return lineOf({ workspace_id: workspaceId, site, kind, day, version, seen, is_cut: isCut ? 1 : 0 })
}

export interface StoredTotal extends SearchFigures {
  readonly version: number
}

/** Totals of the days that are there, by day; a day without impressions has zeros. */
export async function readStoredTotals(
  ch: Pick<ClickHouse, 'query'>,
  { workspaceId, site }: SearchedSite,
  from: number,
): Promise<Map<number, StoredTotal>> {
  const rows = await ch.query<StoredTotal & { readonly day: number }>(
    `SELECT day, version, arraySum(seen.clicks) AS clicks, arraySum(seen.impressions) AS impressions, arraySum(seen.position) AS position
     FROM search_days FINAL
     WHERE workspace_id = {workspace:UInt32} AND site = {site:UInt32} AND kind = 'total' AND day >= {from:UInt16}`,
    { workspace: workspaceId, site, from },
  )
  return new Map(rows.map(({ day, ...figures }) => [day, figures]))
}
