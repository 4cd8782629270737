/** The pages with most pageviews in range, and which of them have samples of web vitals. */
import { overviewKeysMax } from '../../../schemas/limits.ts'
import { compareTexts } from '../../aggregates/aggregate-rows.ts'
import { aggregateTables } from '../../aggregates/tables.ts'
import { type Composition, cellsOf } from './composition.ts'
import type { Reader } from './span.ts'
import { readUnited } from './united.ts'

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
  await readUnited(ch, table, { aggregated, raw: [], atHand: [] }, bySums)
}

/** The `limit` paths with most pageviews of either kind. */
export async function readBusiestPages(ch: Reader, composition: Composition, limit: number): Promise<BusiestPages> {
  const { viewed, sampled } = await readByPageviews(ch, composition)
  return { viewed: viewed.slice(0, limit), sampled: sampled.slice(0, limit) }
}

/** The next ones, as far as they may be among the busiest soon. */
export async function readNextPages(ch: Reader, composition: Composition, limit: number): Promise<BusiestPages> {
  const { viewed, sampled } = await readByPageviews(ch, composition)
  return { viewed: nextAfter(viewed, limit), sampled: nextAfter(sampled, limit) }
}

/** Of the last of the busiest, the share that the next ones need to have. */
const nextShare = 0.95
const nextPagesMax = 5

function nextAfter(pages: readonly BusyPage[], limit: number): BusyPage[] {
  const least = nextShare * (pages[limit - 1]?.pageviews ?? 0)
  return pages.slice(limit, limit + nextPagesMax).filter(({ pageviews }) => pageviews >= least)
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
