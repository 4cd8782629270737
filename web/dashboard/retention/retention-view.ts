/** Retention in the address of its page, as shares, and as a file. Pure; test/unit/retention-view.test.ts. */
import type { Retention } from '../../../schemas/resources/retention.ts'
import { calendarOfMonths } from '../parts/calendar-days.ts'
import { listQuestionOf, ranges, readView, type View, writeView } from '../view/address.ts'

/** `ownRange` is what the API answers without a range. */
export const intervals = {
  day: { name: 'By day', unit: 'Day', ownRange: 'Last 30 days' },
  week: { name: 'By week', unit: 'Week', ownRange: 'Last 12 weeks' },
  month: { name: 'By month', unit: 'Month', ownRange: 'Last 12 months' },
} as const
export type Interval = keyof typeof intervals

const page = '/dashboard/retention'
const daysOf = (view: View) => String(ranges[view.range].days)

/** Whatever isn't known is as if it weren't there. */
export function readInterval(search: string): Interval {
  const interval = new URLSearchParams(search).get('interval') ?? ''
  return Object.hasOwn(intervals, interval) ? (interval as Interval) : 'week'
}

/** Whether the address has no range, and so that of the page holds. */
export function hasOwnRange(search: string): boolean {
  const view = readView(search)
  return view.days === null && new URLSearchParams(search).get('days') !== daysOf(view)
}

/** The address of the page with a range: one that other pages leave out stands there too. */
export function writeRetention(view: View, interval: Interval): string {
  const params = new URLSearchParams(writeView(view))
  if (view.days === null) params.set('days', daysOf(view))
  return withInterval(params.toString(), interval)
}

export function withInterval(search: string, interval: Interval): string {
  const params = new URLSearchParams(search)
  params.delete('interval')
  if (interval !== 'week') params.set('interval', interval)
  const query = params.toString()
  return query === '' ? page : `${page}?${query}`
}

/** The path that asks the API. Cohorts are of all visitors: filters aren't asked for. */
export function retentionQuestionOf(search: string, view: View): string {
  const range = hasOwnRange(search) ? '' : `&${listQuestionOf({ ...view, filters: [] })}`
  return `/analytics/retention?interval=${readInterval(search)}${range}`
}

export interface Share {
  readonly visitors: number
  readonly of: number
  /** The bucket doesn't run any more. */
  readonly isOver: boolean
}

type Cohort = Retention['cohorts'][number]

export function sharesOf({ visitors: of, returned }: Cohort): Share[] {
  return returned.map((visitors, at) => ({ visitors, of, isOver: at < returned.length - 1 }))
}

/** By bucket after the first: all cohorts for which it is over, together. */
export function averageOf(cohorts: readonly Cohort[]): Share[] {
  const all: Share[] = []
  for (const share of cohorts.map(sharesOf)) {
    for (const [at, { visitors, of, isOver }] of share.entries()) {
      const before = all[at] ?? { visitors: 0, of: 0 }
      if (isOver) all[at] = { visitors: before.visitors + visitors, of: before.of + of, isOver }
    }
  }
  return all
}

/** Heat of the smallest share above 0, so that it can be told from none. */
const heatMin = 0.15

/** The largest share of the first columns, which the heat of the others is measured by. */
export function largestShareOf(cohorts: readonly Cohort[], columns: number): number {
  const shares = cohorts.flatMap((cohort) => sharesOf(cohort).slice(0, columns))
  return shares.reduce((largest, { visitors, of }) => Math.max(largest, of === 0 ? 0 : visitors / of), 0)
}

/** @returns 0 for nobody, up to 1 for the largest share */
export function heatOf({ visitors, of }: Share, largest: number): number {
  return visitors === 0 ? 0 : heatMin + ((1 - heatMin) * visitors) / of / largest
}

/** Columns of the longest row. */
export function columnsOf(cohorts: readonly Cohort[]): number {
  return cohorts.reduce((most, { returned }) => Math.max(most, returned.length), 0)
}

/** By the workspace's calendar and the browser's locale, on the page and in the file. */
export function cohortNames({ range: { bucket, timezone } }: Retention): (cohort: Cohort) => string {
  const format = new Intl.DateTimeFormat(undefined, {
    timeZone: timezone,
    ...(bucket === 'month'
      ? { calendar: calendarOfMonths(), month: 'short', year: 'numeric' }
      : { dateStyle: 'medium' }),
  })
  return ({ start }) => format.format(new Date(start))
}

/** Rows of equal length: all counts, then all shares in per cent. Buckets that haven't begun are empty. */
export function fileRowsOf(answer: Retention): (string | number)[][] {
  const { cohorts, range } = answer
  const { unit } = intervals[range.bucket as Interval]
  const nameOf = cohortNames(answer)
  const columns = Array.from({ length: columnsOf(cohorts) }, (_, at) => at)
  const head = [
    'First seen',
    'Visitors',
    ...columns.map((at) => `${unit} ${at + 1} visitors`),
    ...columns.map((at) => `${unit} ${at + 1} share (%)`),
  ]
  const rows = cohorts.map((cohort) => [
    nameOf(cohort),
    cohort.visitors,
    ...columns.map((at) => cohort.returned[at] ?? ''),
    ...columns.map((at) => shareText(cohort.returned[at], cohort.visitors)),
  ])
  return [head, ...rows]
}

function shareText(visitors: number | undefined, of: number): number | '' {
  return visitors === undefined || of === 0 ? '' : Math.round((1000 * visitors) / of) / 10
}
