/**
 * The pages of a range with their figures. Whole local days are added up from cells and rows of sessions. A range that
 * begins or ends inside a day is counted from its events. Held by test/property/pages.test.ts against a naive
 * computation.
 */
import type { PageSort, SortOrder } from '../../../schemas/resources/page-report.ts'
import { tuplesIn } from '../../bound-sql.ts'
import type { EventsOfRange } from '../chosen-events.ts'
import { type CellDays, closedDays } from '../overview/figure-parts.ts'
import { coverageSql } from '../overview/figures-sql.ts'
import { divide } from '../overview/pieces.ts'
import type { PageCounts } from '../overview/read-figures.ts'
import { fewRowsStatement, type Reader } from '../reader.ts'
import { cutPagesSql } from './cut-pages-sql.ts'
import { dayPagesSql, readCutListDays } from './day-pages-sql.ts'
import { type PageParts, pagePart, pageSums } from './page-part.ts'
import { type PageKey, readTitles } from './read-titles.ts'

export interface PagesRequest extends EventsOfRange {
  /** The range reaches to the present. */
  readonly endsNow: boolean
  readonly cells: CellDays
  readonly sort: PageSort
  readonly order: SortOrder
  readonly limit: number
  /** Cents by path, of the pages with most revenue: what they are ordered by. */
  readonly revenue: ReadonlyMap<string, number>
}

export interface PageGroup extends PageCounts {
  readonly title: string
  readonly exits: number
  /** The time in sight, and the pageviews that it is of. */
  readonly engaged_ms: number
  readonly timed_views: number
  /** The sum of greatest depths in per cent, and how many there are. */
  readonly depths: number
  readonly scrolled: number
}

/** SQL of the measures that pages are ordered by and that are no sums. One that isn't known comes last. */
const measures: Readonly<Partial<Record<PageSort, string>>> = {
  revenue_cents: 'revenue',
  exit_rate: 'if(sessions=0,0,least(1,exits/sessions))',
  bounce_rate: 'if(entries=0,0,bounces/entries)',
  time_on_page_seconds: 'if(timed_views=0,NULL,engaged_ms/timed_views)',
  scroll_depth: 'if(scrolled=0,NULL,depths/scrolled)',
}

interface Row extends Omit<PageGroup, 'title'>, PageKey {
  readonly folded: readonly (readonly [number, number])[]
}

export async function readPages(ch: Reader, request: PagesRequest): Promise<PageGroup[]> {
  const { workspaceId, build, timezone, start, end, endsNow, sort, order, limit } = request
  const pieces = divide({ start, end }, { timezone, readableFrom: start, endsNow })
  if (pieces === undefined) return []
  const isWhole = pieces.cutStart === undefined && pieces.cutEnd === undefined
  // Cells of a day with too many pages lack some: it is counted from `sessions`.
  const cutLists = isWhole ? await readCutListDays(ch, request, closedDays(pieces.days, request.cells)) : []
  const cells = { ...request.cells, stale: [...new Set([...request.cells.stale, ...cutLists])].sort((a, b) => a - b) }
  const { parts, params } = isWhole
    ? await dayPagesSql(ch, request, pieces.days, cells)
    : await cutPagesSql(ch, request)
  const revenue = sort === 'revenue_cents' ? revenueOf(request.revenue) : { parts: [], params: {} }
  const rows = await ch.query<Row>(
    `WITH ${coverageSql} AS coverage
     SELECT max(name) AS path,toString(of_page.page) AS page,${pageSums.map((sum) => `sum(of_page.${sum}) AS ${sum}`).join(',')},coverage.1 AS folded
     FROM (${[...parts, ...revenue.parts].join(' UNION ALL ')}) AS of_page GROUP BY of_page.page HAVING pageviews>0
     ORDER BY ${measures[sort] ?? sort} ${order === 'asc' ? 'ASC' : 'DESC'} NULLS LAST,pageviews DESC,path LIMIT {limit:UInt32}`,
    { ...params, ...revenue.params, workspace: workspaceId, build, limit },
    { settings: fewRowsStatement },
  )
  if (rows.length === 0) return []
  const titles = await readTitles(ch, {
    workspaceId,
    build,
    pieces,
    cells,
    pages: rows,
    folded: rows[0]!.folded.map(([from, through]) => ({ from, through })),
  })
  return rows.map(({ folded: _, page: __, ...row }) => ({ ...row, title: titles.get(row.path) ?? '' }))
}

function revenueOf(revenue: ReadonlyMap<string, number>): PageParts {
  const part = pagePart(
    { page: 'cityHash64(t.1)', revenue: 't.2' },
    `FROM ${tuplesIn({ revenue_paths: 'String', revenue_cents: 'Int64' })}`,
  )
  return { parts: [part], params: { revenue_paths: [...revenue.keys()], revenue_cents: [...revenue.values()] } }
}
