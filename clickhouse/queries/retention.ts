/**
 * Visitors by when they came first, and when they came back (docs/metrics.md, "Retention of visitors"). Held by
 * test/property/retention.test.ts against a naive computation.
 *
 * A fold inserts its rows of `visitors` as one part, so one statement sees all rows of one moment. The table is ordered by
 * visitor, so a visitor's rows are grouped as they are read: three million visitors take less than 100 MB. The rows become a
 * mask with a bit for each bucket, and equal masks are counted together. Lists of buckets would take half as long again.
 */
import type { Span } from '../../schemas/time/time-range.ts'
import { moment } from '../rollups/event-sql.ts'
import { inBuild } from './overview/figure-parts.ts'
import type { VisitorRows } from './people/visitors.ts'
import type { Reader } from './reader.ts'

/** The span is where first events lie. */
export interface RetentionRequest extends VisitorRows, Span {
  /** Local days on which buckets begin, ascending. */
  readonly bucketDays: readonly number[]
  /** The last local day that is looked at. */
  readonly lastDay: number
}

export interface ReturnCount {
  /** Places of buckets: that of the first event, and the same or a later one with an event. */
  readonly cohort: number
  readonly bucket: number
  readonly visitors: number
}

const inOrder = { optimize_aggregation_in_order: 1 }
const maskBits = 64

/** Pairs of buckets without visitors are left out. */
export function readReturns(ch: Reader, request: RetentionRequest): Promise<ReturnCount[]> {
  const { workspaceId, build, firstDay, lastDay, start, end, bucketDays } = request
  const masks = Array.from({ length: Math.ceil(bucketDays.length / maskBits) }, (_, at) => `mask_${at}`)
  const begin = bucketDays[0]!
  const places = Array.from({ length: lastDay - begin + 1 }, (_, day) =>
    bucketDays.findLastIndex((bucketDay) => bucketDay <= begin + day),
  )
  return ch.query<ReturnCount>(
    `SELECT cohort,bucket,sum(n) AS visitors
     FROM (SELECT cohort,${masks.join(',')},count() AS n
       FROM (SELECT ${placeOf('min(day)')} AS cohort,${masks.map(maskSql).join(',')}
         FROM visitors FINAL WHERE ${inBuild} AND day>={first_day:UInt16} AND day<={last_day:UInt16}
         GROUP BY visitor HAVING min(first_at)>=${moment('start')} AND min(first_at)<${moment('end')})
       GROUP BY cohort,${masks.join(',')})
     ARRAY JOIN arrayConcat(${masks.map(placesIn).join(',')}) AS bucket GROUP BY cohort,bucket`,
    {
      workspace: workspaceId,
      build,
      first_day: firstDay,
      last_day: lastDay,
      start,
      end,
      begin,
      places,
    },
    { settings: inOrder },
  )
}

/** SQL of the place of a day's bucket. Earlier days are of visitors who aren't counted. */
function placeOf(day: string): string {
  return `{places:Array(UInt16)}[greatest(${day},{begin:UInt16})-{begin:UInt16}+1]`
}

/** SQL of a visitor's mask: the buckets from `at` × 64 on. */
function maskSql(name: string, at: number): string {
  const place = placeOf('day')
  return `groupBitOr(if(intDiv(${place},${maskBits})=${at},bitShiftLeft(toUInt64(1),${place}%${maskBits}),0)) AS ${name}`
}

function placesIn(name: string, at: number): string {
  return `arrayMap(bit->bit+${at * maskBits},bitPositionsToArray(${name}))`
}
