/** The pages with most pageviews in range, and which of them have samples of web vitals. */
import { aggregateTables } from '../../aggregates/tables.ts'
import { type Composition, cellsOf } from './composition.ts'
import type { Reader } from './span.ts'
import { isLasting, shown, unitedSql } from './united.ts'

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

/** The `limit` paths with most pageviews of either kind. */
export async function readBusiestPages(ch: Reader, composition: Composition, limit: number): Promise<BusiestPages> {
  const cells = cellsOf(composition, { name: 'busiest' })
  const united = unitedSql(table, cells, { columns: ['pageviews', 'samples'] })
  const pages = await ch.query<BusyPage & { is_sampled: number }>(
    `SELECT path, sum(views) AS pageviews, sum(samples) > 0 AS is_sampled
     FROM (SELECT path, pageviews AS views, samples FROM ${united.sql})
     GROUP BY path HAVING pageviews > 0 OR is_sampled
     ORDER BY pageviews DESC, path LIMIT {limit:UInt32} BY is_sampled`,
    { ...united.params, limit },
    { isLasting: isLasting(cells) },
  )
  return {
    viewed: pages.filter(({ pageviews }) => pageviews > 0).slice(0, limit),
    sampled: pages.filter((page) => page.is_sampled === 1),
  }
}

export async function readPages(
  ch: Reader,
  composition: Composition,
  busiest: readonly BusyPage[],
): Promise<PageCounts[]> {
  if (busiest.length === 0) return []
  const cells = cellsOf(composition, { name: 'pages' })
  const united = unitedSql(table, cells, {
    columns: ['pageviews', 'conversions', 'visitors', 'sessions', 'title'],
    where: 'path IN {paths:Array(String)}',
  })
  return ch.query<PageCounts>(
    `SELECT path, max(title).3 AS title, ${shown(table, 'pageviews')} AS pageviews, ${shown(table, 'visitors')} AS visitors,
       ${shown(table, 'sessions')} AS sessions, ${shown(table, 'conversions')} AS conversions
     FROM (SELECT path, title AS title, pageviews, visitors, sessions, conversions FROM ${united.sql})
     GROUP BY path ORDER BY pageviews DESC, path`,
    { ...united.params, paths: busiest.map(({ path }) => path) },
    { isLasting: isLasting(cells) },
  )
}
