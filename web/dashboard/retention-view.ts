/** Retention in the address of its page, and as shares. Pure; test/unit/retention-view.test.ts. */
import type { Retention } from '../../schemas/resources/retention.ts'
import { listQuestionOf, ranges, readView, type View, writeView } from './address.ts'

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
