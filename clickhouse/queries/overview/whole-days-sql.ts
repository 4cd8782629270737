/**
 * The SQL of the figures of chosen sessions on whole local days: each row of `sessions` counts as it is, and nothing is asked of
 * `events`. On large sites this takes half of the time of `countedPart`, which asks of each appearance when it was.
 */
import { cellKinds } from '../../rollups/appearance.ts'
import { eventsAround, joined, seenColumns, sessionDays, wantedOf, wantedViews } from './counted-rows-sql.ts'
import { inBuild, type PeriodSql, part, seriesPeriod, termsOf } from './figure-parts.ts'
import type { Selection } from './selection.ts'

const { all, converting } = cellKinds

export function isWholeDays({ pieces: { cutStart, cutEnd }, wanted, hasDayBuckets }: PeriodSql): boolean {
  return cutStart === undefined && cutEnd === undefined && (wanted === 'totals' || hasDayBuckets)
}

/** @param period of which `isWholeDays` */
export function wholeDaysParts(period: PeriodSql, selection: Selection): string[] {
  const { day, since } = termsOf(period)
  const days = `day>=${since} AND day<=${day('last_day')}`
  const { pageviews, events } = wantedOf(selection)
  const isTotals = period.wanted === 'totals'
  const columns = `kind,key,detail,visitor,day,sessions,fresh,begun,bounces,duration_ms,conversions,samples,${pageviews} AS pageviews,${events} AS events`
  const rows = `SELECT ${columns} FROM (SELECT *,${seenColumns.join(',')} FROM (${sessionDays(days, [period], selection)}) ARRAY JOIN ${joined})
    ${isTotals ? `WHERE kind IN (${all},${converting})` : ''}`
  const sum = (name: string) => ({ [name]: `sum(counted.${name})` })
  const counts = part(
    period.number,
    'kind,key,detail,0 AS bucket',
    {
      visitors: `uniqExactIf(visitor,kind=${converting} OR counted.sessions>0)`,
      // A session that goes on into a second day counts there as well where that is the first one.
      sessions: `sum(if(day>${since},counted.fresh,counted.sessions))`,
      ...{ ...sum('pageviews'), ...sum('events'), ...sum('conversions'), ...sum('begun'), ...sum('bounces') },
      ...{ ...sum('duration_ms'), ...sum('samples') },
    },
    `FROM (${rows}) AS counted GROUP BY kind,key,detail`,
  )
  return isTotals ? [counts] : [counts, seriesPart(period, days, selection)]
}

/** The session itself is the appearance of kind `all`, which each row has; conversions have further ones. */
function seriesPart(period: PeriodSql, days: string, selection: Selection): string {
  const own = (name: string) => `arraySum((kind,n)->if(kind=${all},n,0),seen.kind,seen.${name})`
  const { isWantedPath } = selection
  const views = isWantedPath ? wantedViews(isWantedPath)[0]! : `${own('pageviews')} AS day_views`
  const bucket = 'roundDown(day,{bucket_days:Array(UInt16)})'
  return part(
    seriesPeriod,
    `${all} AS kind,'' AS key,'' AS detail,${bucket} AS bucket`,
    {
      bucket_visitors: 'uniqExact(visitor)',
      bucket_sessions: `countIf(nth_day=1 OR day=greatest(${bucket},${termsOf(period).since}))`,
      ...{ pageviews: 'sum(day_views)', conversions: 'sum(converted)' },
    },
    `FROM (SELECT visitor,day,nth_day,${views},${own('conversions')} AS converted FROM sessions FINAL
      WHERE ${inBuild} AND ${days} AND ${selection.isChosen(eventsAround([period]))}) GROUP BY bucket`,
  )
}
