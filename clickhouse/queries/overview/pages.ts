/** The pages with most pageviews in range. */
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

const table = aggregateTables.agg_pages

/** SQL subquery: the paths with most pageviews in range, as many as the parameter `limit` says. */
function topPaths(composition: Composition, name: string): { sql: string; params: Readonly<Record<string, unknown>> } {
  const united = unitedSql(table, cellsOf(composition, { name }), { columns: ['pageviews'] })
  return {
    sql: `SELECT path FROM ${united.sql} GROUP BY path HAVING sum(pageviews) > 0
      ORDER BY sum(pageviews) DESC, path LIMIT {limit:UInt32}`,
    params: united.params,
  }
}

/** The paths are chosen by their sums first: distinct ids and titles are gathered for those few only. */
export function readPages(ch: Reader, composition: Composition, limit: number): Promise<PageCounts[]> {
  const top = topPaths(composition, 'top')
  const cells = cellsOf(composition, { name: 'pages' })
  const united = unitedSql(table, cells, {
    columns: ['pageviews', 'conversions', 'visitors', 'sessions', 'title'],
    where: `path IN (${top.sql})`,
  })
  return ch.query<PageCounts>(
    `SELECT path, max(title).3 AS title, ${shown(table, 'pageviews')} AS pageviews, ${shown(table, 'visitors')} AS visitors,
       ${shown(table, 'sessions')} AS sessions, ${shown(table, 'conversions')} AS conversions
     FROM (SELECT path, title AS title, pageviews, visitors, sessions, conversions FROM ${united.sql})
     GROUP BY path ORDER BY pageviews DESC, path`,
    { ...top.params, ...united.params, limit },
    { isLasting: isLasting(cells) },
  )
}
