/** The pages with most pageviews in range, and which of them have samples of web vitals. */
import { overviewKeysMax } from '../../../schemas/limits.ts'
import { compareTexts } from '../../aggregates/aggregate-rows.ts'
import { allOf, rowsCounted } from '../../aggregates/rows-at-hand.ts'
import { aggregateTables } from '../../aggregates/tables.ts'
import { type Composition, cellsOf } from './composition.ts'
import type { Reader } from './span.ts'
import { askCells, readUnited } from './united.ts'

export interface PageCounts {
  readonly path: string
  /** The newest one seen; empty when none was sent. */
  readonly title: string
  readonly pageviews: number
  readonly visitors: number
  readonly sessions: number
  readonly conversions: number
}

/** A page by its sums, which are had at once: distinct ids and titles are gathered for the chosen few only. */
export interface BusyPage {
  readonly path: string
  readonly pageviews: number
}

export interface BusiestPages {
  /** By pageviews; has one at least. */
  readonly viewed: readonly BusyPage[]
  /** Those with samples of web vitals, in the same order. */
  readonly sampled: readonly BusyPage[]
}

const table = aggregateTables.agg_pages

/** Their paths, in the order of the alphabet: when two pages change places, what is known of the same few is asked as before. */
export function pathsOf(pages: readonly BusyPage[]): string[] {
  return pages.map(({ path }) => path).sort()
}

const bySums = {
  columns: ['pageviews', 'samples'],
  most: { of: 'pageviews', by: 'samples_ > 0', max: overviewKeysMax },
}

/** Asks the aggregates already for what `readBusiestPages` will ask them, for a reader that remembers. */
export async function askBusiestPages(ch: Reader, composition: Composition): Promise<void> {
  const { aggregated } = cellsOf(composition, { name: 'busiest' })
  await askCells(ch, table, { aggregated, raw: [], atHand: [] }, bySums)
}

/** The `limit` paths with most pageviews of either kind, and those that may be among them soon. */
export async function readBusiestPages(
  ch: Reader,
  composition: Composition,
  limit: number,
): Promise<BusiestPages & { readonly coming: BusiestPages }> {
  const { viewed, sampled } = await readByPageviews(ch, composition)
  const arrived = pageviewsArrived(composition)
  return {
    viewed: viewed.slice(0, limit),
    sampled: sampled.slice(0, limit),
    coming: { viewed: comingAfter(viewed, limit, arrived), sampled: comingAfter(sampled, limit, arrived) },
  }
}

/** Both, each page once. */
export function joinPages(one: BusiestPages, other: BusiestPages): BusiestPages {
  const join = (pages: readonly BusyPage[]) => [...new Map(pages.map((page) => [page.path, page])).values()]
  return { viewed: join([...one.viewed, ...other.viewed]), sampled: join([...one.sampled, ...other.sampled]) }
}

/** By path, of the last seconds: of rows that wait, where they are at hand. */
function pageviewsArrived({ pending }: Composition): ReadonlyMap<string, number> {
  const rows = rowsCounted(table, allOf(pending?.atHand ?? []), ['pageviews'])
  return new Map(rows.map(({ keys, values }) => [String(keys['path']), Number(values['pageviews'])]))
}

/** Behind the busiest, so many that have this share of what the last of them has. */
const nearShare = 0.95
const nearPagesMax = 5
/** And those that would be among them, were as many pageviews as wait to come so often again. */
const arrivalsAhead = 2
const risingPagesMax = 10

function comingAfter(
  pages: readonly BusyPage[],
  limit: number,
  arrived: ReadonlyMap<string, number>,
): readonly BusyPage[] {
  const least = pages[limit - 1]?.pageviews ?? 0
  const soon = ({ path, pageviews }: BusyPage) => pageviews + arrivalsAhead * (arrived.get(path) ?? 0)
  const near = pages.slice(limit, limit + nearPagesMax).filter(({ pageviews }) => pageviews >= nearShare * least)
  const rising = pages
    .slice(limit)
    .filter((page) => arrived.has(page.path) && soon(page) >= least)
    .sort((one, other) => soon(other) - soon(one))
  return [...new Set([...near, ...rising.slice(0, risingPagesMax)])]
}

/** All of them. */
async function readByPageviews(ch: Reader, composition: Composition): Promise<BusiestPages> {
  const { all } = await readUnited(ch, table, cellsOf(composition, { name: 'busiest' }), bySums)
  const pages = all
    .map((row) => ({ path: row.text('path'), pageviews: row.sum('pageviews'), samples: row.sum('samples') }))
    .sort((one, other) => other.pageviews - one.pageviews || compareTexts(one.path, other.path))
  return {
    viewed: pages.filter(({ pageviews }) => pageviews > 0),
    sampled: pages.filter(({ samples }) => samples > 0),
  }
}

export async function readPages(
  ch: Reader,
  composition: Composition,
  busiest: readonly BusyPage[],
): Promise<PageCounts[]> {
  if (busiest.length === 0) return []
  const { all } = await readUnited(ch, table, cellsOf(composition, { name: 'pages' }), {
    columns: ['pageviews', 'conversions', 'visitors', 'sessions', 'title'],
    paths: pathsOf(busiest),
  })
  return all
    .map((row) => ({
      path: row.text('path'),
      title: String(row.newest('title')[2]),
      pageviews: row.sum('pageviews'),
      visitors: row.count('visitors'),
      sessions: row.count('sessions'),
      conversions: row.sum('conversions'),
    }))
    .sort((one, other) => other.pageviews - one.pageviews || compareTexts(one.path, other.path))
}
