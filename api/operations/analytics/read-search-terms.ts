/** GET /v1/analytics/search: by which search terms, and on which pages, people found the workspace's sites on Google. */
import { z } from 'zod'
import {
  readSearchList,
  readSearchTotals,
  type SearchFigures,
  type SearchSpan,
} from '../../../clickhouse/queries/search-terms.ts'
import { readCurrentBuild } from '../../../postgres/tables/figures/figure-builds.ts'
import { listSearchSites, type SearchSite, searchStateOf } from '../../../postgres/tables/figures/search-sites.ts'
import { laxIntOr } from '../../../schemas/lax.ts'
import { searchListRowsDefault, searchListRowsMax, searchTextLengthMax } from '../../../schemas/limits/search-limits.ts'
import { type SearchState, SearchTerms, searchTimeZone } from '../../../schemas/resources/search-terms.ts'
import { readableFrom } from '../../../schemas/time/readable-from.ts'
import { dayAYearBefore, type Span, type TimeRange } from '../../../schemas/time/time-range.ts'
import { dateOfDay, dayMs, localDayAt } from '../../../schemas/time/time-zone.ts'
import { type Context, defineOperation } from '../define.ts'
import { perCent, ratio } from './metrics.ts'
import { compareParameter, rangeOf, rangeParameters } from './range-query.ts'

const SearchQuery = z.object({
  ...rangeParameters,
  compare: compareParameter('previous'),
  limit: laxIntOr(searchListRowsDefault, { ge: 1, le: searchListRowsMax, description: 'Rows of a list.' }),
  query: z.string().min(1).max(searchTextLengthMax).optional().describe('Only this query: the pages that it found.'),
  page: z.string().min(1).max(searchTextLengthMax).optional().describe('Only this URL: the queries that found it.'),
})

type SearchContext = Context<{ readonly query: typeof SearchQuery }>

export const readSearchTerms = defineOperation({
  name: 'search_terms.read',
  http: { method: 'GET', path: '/v1/analytics/search' },
  tool: 'svc.analytics_search',
  toolset: 'analytics',
  summary: 'Read the search terms of a period, from Google Search Console.',
  description:
    'Clicks and impressions by query and page, of the sites that are connected. They are two or three days late.',
  tag: 'Analytics',
  effect: 'read',
  scope: 'analytics:read',
  input: { query: SearchQuery },
  output: SearchTerms,
  async handle(context) {
    const { query, workspace, stores } = context
    return stores.share(JSON.stringify(['search', query, workspace]), () => answer(context))
  },
})

async function answer({ query, workspace, stores, clock }: SearchContext): Promise<SearchTerms> {
  const now = clock.now()
  const [build, sites] = await Promise.all([
    readCurrentBuild(stores.pg, workspace.id),
    listSearchSites(stores.pg, workspace.id),
  ])
  const timezone = build?.timezone ?? workspace.timezone
  const range = rangeOf(query, timezone, now)
  const since = localDayAt(readableFrom({ ...workspace, timezone }, now), timezone)
  const dataThrough = throughOf(sites)
  const asked = daysOf(range, timezone)
  const previous = previousOf(range, asked, { dataThrough, isOfYear: query.compare === 'year' })
  const ofSites = { workspaceId: workspace.id, sites: sites.map(({ id }) => id) }
  // Dates of the workspace name the days of Search Console that have the same dates.
  const span: SearchSpan = { ...ofSites, from: Math.max(asked.from, since), to: Math.max(asked.to, since - 1) }
  const isCompared = previous !== null && previous.from >= Math.max(since, ...sites.map(firstDayOf))
  const { limit, query: term, page } = query
  const filter = { query: term, page }
  const [totals, before, queries, pages] = await Promise.all([
    readSearchTotals(stores.ch, span, filter),
    isCompared ? readSearchTotals(stores.ch, { ...ofSites, ...previous }, filter) : null,
    readSearchList(stores.ch, span, { ...filter, of: 'query', limit }),
    readSearchList(stores.ch, span, { ...filter, of: 'page', limit }),
  ])
  return {
    state: stateOfAll(sites),
    data_through: dataThrough === null ? null : dateOfDay(dataThrough),
    sites: sites.map((site) => ({
      site: site.site,
      state: searchStateOf(site),
      data_through: site.data_through,
      last_error: site.last_error,
    })),
    range: { start: dateOfDay(asked.from), end: dateOfDay(asked.to), timezone: searchTimeZone },
    totals: shown(totals),
    previous: before && shown(before),
    queries: queries.rows.map(({ key, ...figures }) => ({ query: key, ...shown(figures) })),
    pages: pages.rows.map(({ key, ...figures }) => ({ page: key, ...shown(figures) })),
    lists_cut: queries.isCut || pages.isCut,
  }
}

/** Days since 1970, both included. */
interface Days {
  readonly from: number
  readonly to: number
}

function daysOf({ start, end }: Span, timezone: string): Days {
  return { from: localDayAt(start, timezone), to: localDayAt(end - 1, timezone) }
}

interface Lateness {
  readonly dataThrough: number | null
  /** It is compared with the same days of the year before. */
  readonly isOfYear: boolean
}

/** As many days before those of the range as these have figures: the last ones are late. Null: none. */
function previousOf(range: TimeRange, asked: Days, { dataThrough, isOfYear }: Lateness): Days | null {
  if (!range.isCompared) return null
  const length = asked.to - asked.from + 1
  const through = Math.min(asked.to, dataThrough ?? asked.to)
  if (through < asked.from) return null
  if (!isOfYear) return { from: asked.from - length, to: through - length }
  const { from, to } = daysOf(range.previous, range.timeZone)
  return { from, to: Math.min(to, dayAYearBefore(through)) }
}

/** No day before it was read; while the first pull goes on, any may be missing. */
function firstDayOf({ data_from }: SearchSite): number {
  return data_from === null ? Number.POSITIVE_INFINITY : Date.parse(data_from) / dayMs
}

/** The last day that any site has: a quiet one has no day later than its last impression. */
function throughOf(sites: readonly SearchSite[]): number | null {
  const days = sites.flatMap(({ data_through }) => (data_through === null ? [] : Date.parse(data_through) / dayMs))
  return days.length === 0 ? null : Math.max(...days)
}

function stateOfAll(sites: readonly SearchSite[]): SearchState {
  const states = sites.map(searchStateOf)
  const worstFirst = ['needs_reconnecting', 'loading', 'active'] as const
  return worstFirst.find((state) => states.includes(state)) ?? 'not_connected'
}

function shown({ clicks, impressions, position }: SearchFigures) {
  return { clicks, impressions, ctr: perCent(clicks, impressions), position: ratio(position, 1) }
}
