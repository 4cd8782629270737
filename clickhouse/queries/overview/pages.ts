/** The pages with most pageviews in range. */
import { inRange, type ReadableSpan, type Reader, spanParams, topPaths } from './span.ts'

export interface PageCounts {
  readonly path: string
  /** The newest one seen; empty when none was sent. */
  readonly title: string
  readonly pageviews: number
  readonly visitors: number
  readonly sessions: number
  readonly conversions: number
}

/** The paths are chosen by their sums first: distinct ids and titles are gathered for those few only. */
export function readPages(ch: Reader, span: ReadableSpan, limit: number): Promise<PageCounts[]> {
  return ch.query<PageCounts>(
    `SELECT path,
       argMaxIf(title, (occurred_at, id), kind = 'pageview' AND title != '') AS title,
       countIf(kind = 'pageview') AS pageviews,
       uniqExactIf(visitor, kind = 'pageview' AND visitor != 0) AS visitors,
       uniqExactIf(session, kind = 'pageview' AND visitor != 0) AS sessions,
       countIf(kind = 'conversion') AS conversions
     FROM events
     WHERE ${inRange} AND kind IN ('pageview', 'conversion') AND path IN (${topPaths})
     GROUP BY path ORDER BY pageviews DESC, path`,
    { ...spanParams(span), limit },
  )
}
