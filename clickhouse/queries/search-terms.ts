/** Search terms of whole days: totals and lists, of all or of one query or page. */
import { searchDayMax } from '../../schemas/limits/search-limits.ts'
import type { SearchFigures, SearchKind } from '../rollups/search-days.ts'
import type { Reader } from './reader.ts'

export type { SearchFigures } from '../rollups/search-days.ts'

/** Days since 1970, both included; without any where `to` is less. */
export interface SearchSpan {
  readonly workspaceId: number
  readonly sites: readonly number[]
  readonly from: number
  readonly to: number
}

export interface SearchFilter {
  readonly query?: string | undefined
  readonly page?: string | undefined
}

interface SearchRow extends SearchFigures {
  readonly key: string
}

export interface SearchRows {
  readonly rows: readonly SearchRow[]
  /** Some day has more rows than are kept. */
  readonly isCut: boolean
}

const sums = `sum(clicks) AS clicks_, sum(impressions) AS impressions_,
  if(impressions_ = 0, 0, sum(position * impressions) / impressions_) AS position_`

const isOfKind = `workspace_id = {workspace:UInt32} AND site IN {sites:Array(UInt32)} AND kind = {kind:String}
  AND day BETWEEN {from:UInt16} AND {to:UInt16}`

/** The rows of a kind, one for each term of each day. */
const terms = `SELECT seen.query AS query, seen.page AS page, seen.clicks AS clicks, seen.impressions AS impressions,
    seen.position AS position
  FROM search_days FINAL ARRAY JOIN seen WHERE ${isOfKind}`

const isChosen = `({query:String} = '' OR query = {query:String}) AND ({page:String} = '' OR page = {page:String})`

/** Search Console leaves rare queries out of lists with queries, and has them in totals and pages. */
export async function readSearchTotals(ch: Reader, span: SearchSpan, filter: SearchFilter): Promise<SearchFigures> {
  const kind = kindOf(filter.query !== undefined, filter.page !== undefined)
  const [row] = await ch.query<{ clicks_: number; impressions_: number; position_: number }>(
    `SELECT ${sums} FROM (${terms}) WHERE ${isChosen}`,
    paramsOf(span, filter, kind),
  )
  return { clicks: row?.clicks_ ?? 0, impressions: row?.impressions_ ?? 0, position: row?.position_ ?? 0 }
}

/** Those with most clicks, and among these with most impressions. */
export async function readSearchList(
  ch: Reader,
  span: SearchSpan,
  { of, limit, ...filter }: SearchFilter & { readonly of: 'query' | 'page'; readonly limit: number },
): Promise<SearchRows> {
  const kind = kindOf(of === 'query' || filter.query !== undefined, of === 'page' || filter.page !== undefined)
  const params = { ...paramsOf(span, filter, kind), limit }
  const [rows, [cut]] = await Promise.all([
    ch.query<{ key: string; clicks_: number; impressions_: number; position_: number }>(
      `SELECT ${of} AS key, ${sums} FROM (${terms}) WHERE ${isChosen} AND key != ''
       GROUP BY key ORDER BY clicks_ DESC, impressions_ DESC, key LIMIT {limit:UInt32}`,
      params,
    ),
    ch.query<{ days: number }>(`SELECT countIf(is_cut) AS days FROM search_days FINAL WHERE ${isOfKind}`, params),
  ])
  return {
    rows: rows.map(({ key, clicks_, impressions_, position_ }) => ({
      key,
      clicks: clicks_,
      impressions: impressions_,
      position: position_,
    })),
    isCut: cut!.days > 0,
  }
}

function kindOf(hasQuery: boolean, hasPage: boolean): SearchKind {
  if (hasQuery) return hasPage ? 'pair' : 'query'
  return hasPage ? 'page' : 'total'
}

/** A later day would wrap to one that has figures. */
function storableDay(day: number): number {
  return Math.min(day, searchDayMax)
}

function paramsOf(
  { workspaceId, sites, from, to }: SearchSpan,
  { query = '', page = '' }: SearchFilter,
  kind: SearchKind,
) {
  return { workspace: workspaceId, sites, from: storableDay(from), to: storableDay(to), kind, query, page }
}
