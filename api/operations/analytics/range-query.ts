/** The parameters that say which time a question about analytics is of. */
import { z } from 'zod'
import { invalid } from '../../../schemas/errors/problems.ts'
import { laxInt, laxIntOr } from '../../../schemas/lax.ts'
import { overviewDaysDefault, overviewDaysMax, overviewHoursMax } from '../../../schemas/limits/overview-limits.ts'
import { bucketsMax } from '../../../schemas/limits/series-limits.ts'
import {
  bucketKinds,
  comparisons,
  type RangeQuery,
  resolveTimeRange,
  type Span,
  type TimeRange,
} from '../../../schemas/time/time-range.ts'
import { latestEventAt } from '../../../schemas/time/time-zone.ts'

/** Members of an operation's query. */
export const rangeParameters = {
  days: laxIntOr(overviewDaysDefault, {
    ge: 1,
    le: overviewDaysMax,
    description: 'Local days up to now, today included.',
  }),
  hours: laxInt({ ge: 1, le: overviewHoursMax, description: 'Hours up to now; wins over `days`.' }),
  start: z
    .string()
    .optional()
    .describe('`YYYY-MM-DD`, or RFC 3339, local without an offset. `start` and `end` win over `hours`.'),
  end: z.string().optional().describe('The same. A day is included, a time is not. Default: now.'),
}

/** @param otherwise what holds without it */
export function intervalParameter(otherwise: string) {
  return z
    .enum(bucketKinds)
    .optional()
    .describe(`Buckets of series, at most ${bucketsMax}; ${otherwise} when left out.`)
}

/** @param member of the answer that has the figures of the other period */
export function compareParameter(member: string) {
  return z
    .enum(comparisons)
    .optional()
    .describe(`\`${member}\`: the period before (default), the same days a year earlier, or none.`)
}

/** @throws the problem of a range that can't be */
export function rangeOf(query: RangeQuery, timeZone: string, now: number): TimeRange {
  const resolved = resolveTimeRange(query, timeZone, now)
  if (!resolved.ok) throw invalid(resolved.errors)
  return resolved.range
}

/** The part of a range that can have events that are shown. @param since nothing before it is */
export function readableSpan(range: Span, { since, timezone }: { since: number; timezone: string }, now: number): Span {
  const latest = latestEventAt(timezone, now)
  const readable = (moment: number) => Math.min(Math.max(moment, since), latest)
  return { start: readable(range.start), end: readable(range.end) }
}

/** The range to compare with; undefined if there is none, it is empty, or part of it isn't kept any more. */
export function comparedSpan({ isCompared, previous }: TimeRange, since: number): Span | undefined {
  return isCompared && previous.start < previous.end && previous.start >= since ? previous : undefined
}

export function timesOf({ start, end }: Span): { start: string; end: string } {
  return { start: new Date(start).toISOString(), end: new Date(end).toISOString() }
}

/** The range as answers show it. */
export function shownRange(range: TimeRange): { start: string; end: string; timezone: string; bucket: string } {
  return { ...timesOf(range), timezone: range.timeZone, bucket: range.bucket }
}
