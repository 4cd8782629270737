/**
 * The SQL of the figures of chosen sessions on whole local days. Each row of `sessions` counts as it is, and `events`
 * is not read. On large sites this takes a third of the time of `countedPart`, which asks when each appearance was.
 */
import { cellKinds } from '../../rollups/appearance.ts'
import { eventsAround, ownDays } from './counted-rows-sql.ts'
import { inBuild, type PeriodSql, part, seriesPeriod, termsOf } from './figure-parts.ts'
import type { Selection } from './selection.ts'

const { all, converting, source, device, browser, country, page } = cellKinds

export function isWholeDays({ pieces: { cutStart, cutEnd }, wanted, hasDayBuckets }: PeriodSql): boolean {
  return cutStart === undefined && cutEnd === undefined && (wanted === 'totals' || hasDayBuckets)
}

/** @param period one for which `isWholeDays` is true */
export function wholeDaysParts(period: PeriodSql, selection: Selection): string[] {
  const { day, since } = termsOf(period)
  const days = `day>=${since} AND day<=${day('last_day')}`
  return [ownPart(period, days, selection), ...(period.wanted === 'totals' ? [] : [seenPart(period, days, selection)])]
}

/** Lists by columns of the entry, of sessions that begin in the period. */
const lists = [
  { kind: source, columns: ['source', 'medium'] },
  { kind: device, columns: ['device'] },
  { kind: browser, columns: ['browser'] },
  { kind: country, columns: ['country'] },
  { kind: page, columns: ['entry_path'] },
] as const

/**
 * The sessions' own counts, in one pass: totals, and unless these alone are wanted the series and the lists. The list
 * of pages counts how often sessions begin there.
 */
function ownPart(period: PeriodSql, days: string, selection: Selection): string {
  const { since } = termsOf(period)
  const { sets, columns, bucket } =
    period.wanted === 'totals'
      ? onlyTotals
      : { ...totalsAndLists, bucket: 'roundDown(day,{bucket_days:Array(UInt16)})' }
  const counted = `SELECT ${columns},
      uniqExact(visitor) AS n_visitors,uniqExactIf(visitor,day_conversions>0) AS n_converting,
      countIf(nth_day=1) AS n_begun,countIf(nth_day=1 AND session_pageviews>0) AS n_entries,
      countIf(nth_day=1 OR day=${since}) AS n_sessions,countIf(nth_day=1 OR day=greatest(day_bucket,${since})) AS n_bucket_sessions,
      sum(is_bounce) AS n_bounces,sum(session_ms) AS n_ms,sum(day_conversions) AS n_conversions,
      sum(day_views) AS n_day_views,sum(session_views) AS n_session_views,sum(day_events) AS n_day_events,sum(session_events) AS n_session_events
    FROM (SELECT *,nth_day=1 AS begins,${bucket} AS day_bucket FROM (${ownDays(days, period, selection)})) ${sets}`
  // Visitors with a conversion are a row of their own beside the totals.
  const kinds = `arrayJoin(if(is_list OR is_bucket,[list],[list,toUInt8(${converting})]))`
  const isOther = `kind IN (${converting},${page})`
  return part(
    `if(is_bucket,${seriesPeriod},${period.number})`,
    'kind,of_key AS key,of_detail AS detail,of_bucket AS bucket',
    {
      visitors: `multiIf(is_bucket OR kind=${page},0,kind=${converting},n_converting,n_visitors)`,
      bucket_visitors: 'if(is_bucket,n_visitors,0)',
      sessions: `multiIf(is_bucket OR ${isOther},0,is_list,n_begun,n_sessions)`,
      bucket_sessions: 'if(is_bucket,n_bucket_sessions,0)',
      pageviews: `multiIf(${isOther},0,is_list,n_session_views,n_day_views)`,
      events: `multiIf(is_bucket OR ${isOther},0,is_list,n_session_events,n_day_events)`,
      conversions: `if(kind=${all},n_conversions,0)`,
      begun: `multiIf(kind=${page},n_entries,kind=${all},n_begun,0)`,
      bounces: `if(kind IN (${all},${page}),n_bounces,0)`,
      duration_ms: `if(kind=${all},n_ms,0)`,
    },
    `FROM (SELECT *,${kinds} AS kind FROM (${counted}) WHERE NOT is_list OR has_begun)`,
  )
}

const onlyTotals = {
  sets: '',
  columns: `toUInt8(${all}) AS list,'' AS of_key,'' AS of_detail,toUInt16(0) AS of_bucket,0 AS is_bucket,0 AS is_list,0 AS has_begun`,
  bucket: 'toUInt16(0)',
} as const

const isOf = (column: string) => `grouping(${column})=0`
const ofList = (of: (list: (typeof lists)[number]) => string, ofOthers: string) =>
  `multiIf(${lists.map((list) => `${isOf(list.columns[0])},${of(list)}`).join(',')},${ofOthers})`

/** A list has a group for the second days of sessions too, which count for none. */
const totalsAndLists = {
  sets: `GROUP BY GROUPING SETS ((),(day_bucket),${lists.map(({ columns }) => `(begins,${columns.join(',')})`).join(',')})`,
  columns: `${ofList(({ kind }) => String(kind), String(all))} AS list,${ofList(({ columns: [key] }) => `toString(${key})`, "''")} AS of_key,
      if(${isOf('source')},toString(medium),'') AS of_detail,day_bucket AS of_bucket,${isOf('day_bucket')} AS is_bucket,
      ${isOf('begins')} AS is_list,begins AS has_begun`,
} as const

/** Pages, and the keys that conversions are credited to: these stand in `seen` alone. */
function seenPart(period: PeriodSql, days: string, { chosenSql, wantedPathSql }: Selection): string {
  const names = ['kind', 'key', 'detail', 'fresh', 'pageviews', 'conversions', 'samples'] as const
  const rows = `SELECT visitor,day,${names.map((name) => `seen.${name} AS seen_${name}`).join(',')} FROM sessions FINAL
    WHERE ${inBuild} AND ${days} AND ${chosenSql(eventsAround([period]))}`
  const joined = names.map((name) => `seen_${name} AS ${name === 'pageviews' ? 'views' : `its_${name}`}`).join(',')
  return part(
    period.number,
    'its_kind AS kind,toString(its_key) AS key,toString(its_detail) AS detail,0 AS bucket',
    {
      visitors: 'uniqExactIf(visitor,views>0)',
      // A session that goes on into a second day counts there as well where that is the first one.
      sessions: `countIf(views>0 AND (its_fresh>0 OR day=${termsOf(period).since}))`,
      pageviews: wantedPathSql ? `sumIf(views,${wantedPathSql('its_key')})` : 'sum(views)',
      conversions: 'sum(its_conversions)',
      samples: 'sum(its_samples)',
    },
    `FROM (${rows}) ARRAY JOIN ${joined} WHERE its_kind=${page} OR (its_conversions>0 AND its_kind>${converting})
      GROUP BY its_kind,its_key,its_detail`,
  )
}
