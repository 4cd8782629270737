/** GET /v1/analytics/retention: how many of those who came first in a bucket of a range came back in the buckets after it. */
import { z } from 'zod'
import { readReturns } from '../../../clickhouse/queries/retention.ts'
import { readFoldedAsOf } from '../../../postgres/tables/figures/folds.ts'
import { invalid } from '../../../schemas/errors/problems.ts'
import { valueError } from '../../../schemas/errors/validation-errors.ts'
import { laxInt } from '../../../schemas/lax.ts'
import {
  overviewDaysDefault,
  overviewDaysMax,
  retentionCohortsDefault,
  retentionCohortsMax,
} from '../../../schemas/limits/overview-limits.ts'
import { Retention } from '../../../schemas/resources/retention.ts'
import { bucketDay, bucketsOf, type TimeRange } from '../../../schemas/time/time-range.ts'
import { dayMs, localDayAt, startOfLocalDay } from '../../../schemas/time/time-zone.ts'
import { type Context, defineOperation } from '../define.ts'
import { type ReadableVisitors, readableVisitors } from '../people/readable-visitors.ts'
import { rangeOf, rangeParameters, readableSpan, shownRange, timesOf } from './range-query.ts'

const defaults = retentionCohortsDefault

const RetentionQuery = z.object({
  ...rangeParameters,
  days: laxInt({
    ge: 1,
    le: overviewDaysMax,
    description: `Local days up to now. Without a range: ${defaults.day} days, ${defaults.week} weeks or ${defaults.month} months.`,
  }),
  interval: z
    .enum(['day', 'week', 'month'])
    .default('week')
    .describe(`Length of the buckets; at most ${retentionCohortsMax} are cohorts.`),
})

type RetentionContext = Context<{ readonly query: typeof RetentionQuery }>

export const readAnalyticsRetention = defineOperation({
  name: 'retention.read',
  http: { method: 'GET', path: '/v1/analytics/retention' },
  tool: 'svc.get_retention',
  summary: 'Count the new visitors of a period who came back later.',
  description: 'A row for each interval in which visitors came first.',
  tag: 'Analytics',
  effect: 'read',
  scope: 'analytics:read',
  isShared: true,
  input: { query: RetentionQuery },
  output: Retention,
  async handle(context) {
    const { query, workspace, stores } = context
    return stores.share(JSON.stringify(['retention', query, workspace]), () => answerRetention(context))
  },
})

async function answerRetention(context: RetentionContext): Promise<Retention> {
  const { query, stores, clock } = context
  const { interval } = query
  // Before the rows are read: they have at least the events of that fold.
  const [rows, { asOf }] = await Promise.all([readableVisitors(context), readFoldedAsOf(stores.pg)])
  const now = clock.now()
  const range = askedRange(query, rows.timezone, now)
  const cohorts = bucketsOf(range)
  if (cohorts.length > retentionCohortsMax) {
    throw invalid([valueError(['query', 'interval'], interval, `a range has at most ${retentionCohortsMax} cohorts`)])
  }
  const seenThrough = Math.min(now, asOf)
  const running = startOfLocalDay(bucketDay(seenThrough, interval, rows.timezone), rows.timezone)
  const returns = await readReturnLists(context, { rows, range, now, seenThrough })
  return {
    range: shownRange(range),
    as_of: new Date(asOf).toISOString(),
    readable_from: new Date(rows.since).toISOString(),
    complete_through: new Date(running).toISOString(),
    cohorts: cohorts.map((bucket, at) => {
      const [visitors = 0, ...returned] = returns?.(at) ?? []
      return { label: bucket.label, ...timesOf(bucket), visitors, returned }
    }),
  }
}

/** Without any part of a range: whole buckets, up to now. */
function askedRange(query: RetentionContext['query'], timeZone: string, now: number): TimeRange {
  const { interval, days, hours, start, end } = query
  if (days !== undefined || hours !== undefined || start !== undefined || end !== undefined) {
    return rangeOf({ ...query, days: days ?? overviewDaysDefault }, timeZone, now)
  }
  const first = bucketDay(now, interval, timeZone, retentionCohortsDefault[interval] - 1)
  const text = new Date(first * dayMs).toISOString().slice(0, 10)
  return rangeOf({ interval, start: text, days: overviewDaysDefault }, timeZone, now)
}

interface Asked {
  readonly rows: ReadableVisitors
  readonly range: TimeRange
  readonly now: number
  /** Events up to it are counted. */
  readonly seenThrough: number
}

/** @returns of a cohort by its place: its visitors, then who came back in each bucket. Undefined: nothing is readable */
async function readReturnLists(
  { stores }: RetentionContext,
  { rows, range, now, seenThrough }: Asked,
): Promise<((at: number) => number[]) | undefined> {
  const span = readableSpan(range, rows, now)
  if (span.start >= span.end) return undefined
  const buckets = bucketsOf({ ...range, end: Math.max(range.end, seenThrough + 1) })
  const dayOf = (ms: number) => localDayAt(ms, rows.timezone)
  const bucketDays = buckets.map(({ start }) => dayOf(start))
  const lastDay = dayOf(buckets.at(-1)!.end - 1)
  const counts = await readReturns(stores.ch, { ...rows, ...span, bucketDays, lastDay })
  const found = new Map(counts.map(({ cohort, bucket, visitors }) => [`${cohort} ${bucket}`, visitors]))
  const running = buckets.findLastIndex(({ start }) => start <= seenThrough)
  return (cohort) => {
    const through = Math.max(cohort, running)
    return Array.from({ length: through - cohort + 1 }, (_, after) => found.get(`${cohort} ${cohort + after}`) ?? 0)
  }
}
