/** One visitor's rows, derived from random events: the same in one step or in two. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { neverBefore } from '../../clickhouse/rollups/appearance.ts'
import type { VisitorRow } from '../../clickhouse/rollups/tables.ts'
import { type DerivedRows, deriveRows, noHistory, type VisitorHistory } from '../../pipeline/fold/derive-rows.ts'
import type { Conversion, SessionDay, Touch } from '../../pipeline/fold/read-session-days.ts'
import { knownDaysMax } from '../../schemas/limits/figure-limits.ts'
import { isLong, seed } from '../support/short-form.ts'

const runs = { seed, numRuns: isLong ? 20_000 : 500 }
const hourMs = 3_600_000
const dayMs = 24 * hourMs
/** Local days of the events, which are those of UTC. */
const [firstDay, days] = [20_000, 40] as const

interface Event {
  readonly id: number
  readonly at: number
  readonly session: number
  readonly kind: 'pageview' | 'conversion' | 'web_vital' | 'page_leave'
  readonly path: string
  readonly source: string
  readonly engagementMs: number
}

const threeViews = Array<Event['kind']>(3).fill('pageview')

/** Mostly of some days around one another, and on few moments, so that days, sessions and moments meet. */
const someEvents = fc
  .array(
    fc.record({
      day: fc.oneof({ weight: 4, arbitrary: fc.integer({ min: 3, max: 8 }) }, fc.integer({ min: 0, max: days - 1 })),
      ms: fc.constantFrom(0, 1, hourMs, 9 * hourMs, 9 * hourMs + 5_000, dayMs - 1),
      session: fc.integer({ min: 1, max: 3 }),
      kind: fc.constantFrom<Event['kind'][]>(...threeViews, 'conversion', 'web_vital', 'page_leave'),
      path: fc.constantFrom('/', '/a', '/b'),
      source: fc.constantFrom('', '', 'direct', 'google', 'news'),
      engagementMs: fc.constantFrom(0, 6_000),
    }),
    { minLength: 1, maxLength: 30 },
  )
  .map((all) => all.map(({ day, ms, ...event }, id): Event => ({ ...event, id, at: (firstDay + day) * dayMs + ms })))

const dayOf = ({ at }: Pick<Event, 'at'>) => Math.floor(at / dayMs)
const byTime = (a: Event, b: Event) => a.at - b.at || a.id - b.id
const mediumOf = (source: string) => (['', 'direct'].includes(source) ? 'none' : 'email')
const sourceOf = (source: string) => (source === '' ? 'direct' : source)

/** Campaign, device, browser, system, country, and eight more. */
const restOfEntry = ['', 'desktop', 'Chrome', '', 'DE', '', '', '', '', '', '', '', ''] as const
const conversionOf = ({ at, id, path, source }: Event): Conversion => {
  return [at, id, path, 'desktop', 'Chrome', 'DE', sourceOf(source), mediumOf(source)]
}

/** As read-session-days.ts reads them of stored events. */
function sessionDaysOf(events: readonly Event[]): SessionDay[] {
  const groups = new Map<string, Event[]>()
  for (const event of [...events].sort(byTime)) {
    const key = `${event.session} ${dayOf(event)}`
    groups.set(key, [...(groups.get(key) ?? []), event])
  }
  return [...groups.values()].map((own) => {
    const [first, last] = [own[0]!, own.at(-1)!]
    const ownOf = (kind: Event['kind']) => own.filter((event) => event.kind === kind)
    return {
      workspaceId: 1,
      visitor: '1',
      session: String(first.session),
      day: dayOf(first),
      firstAt: first.at,
      lastAt: last.at,
      events: own.length,
      pageviews: ownOf('pageview').length,
      entry: [sourceOf(first.source), mediumOf(first.source), ...restOfEntry],
      acts: ownOf('conversion').length,
      engagementMs: own.reduce((sum, event) => sum + event.engagementMs, 0),
      hours: own.reduce((mask, { at }) => mask | (1 << Math.floor((at % dayMs) / hourMs)), 0),
      converted: ownOf('conversion').length,
      views: ownOf('pageview').map(({ at, id, path }) => [at, id, path]),
      leaves: ownOf('page_leave').map(({ at, id, path, engagementMs }) => [at, id, path, engagementMs, id % 3]),
      touches: own
        .filter(({ source }) => !['', 'direct'].includes(source))
        .map(({ at, id, source }) => [at, id, source, mediumOf(source)]),
      conversions: ownOf('conversion').map(conversionOf),
      sampledPaths: ownOf('web_vital').map(({ path }) => path),
    }
  })
}

const derive = (
  events: readonly Event[],
  fromDay: number = firstDay,
  history: VisitorHistory = noHistory,
): DerivedRows => deriveRows(sessionDaysOf(events), { build: 1, version: 1, fromDay, history })

/** A fold's knowledge of the days before the day before `fromDay`, by the stored rows (read-touched.ts). */
function historyBefore(fromDay: number, visitors: readonly VisitorRow[]): VisitorHistory {
  const earlier = visitors.filter(({ day }) => day < fromDay - 1).sort((a, b) => a.day - b.day)
  const touched = earlier.findLast(({ touch_source }) => touch_source !== '')
  return {
    lastDays: new Map(earlier.flatMap(({ day, keys }) => keys.map((key) => [key, day] as const))),
    lastTouch:
      touched &&
      ([touched.first_at + touched.touch_after_ms, 0, touched.touch_source, touched.touch_medium] satisfies Touch),
  }
}

/** By each table's key; of two rows with one key the later one stands. */
function standing(...steps: readonly DerivedRows[]) {
  const all = <Name extends keyof DerivedRows>(name: Name) =>
    steps.flatMap((rows): DerivedRows[Name][number][] => rows[name])
  return {
    sessions: new Map(all('sessions').map((row) => [`${row.day} ${row.session}`, row])),
    visitors: new Map(all('visitors').map((row) => [row.day, { ...row, keys: [...row.keys].sort() }])),
    credits: new Map(all('credits').map((row) => [row.id, row])),
  }
}

test('an appearance longer ago than any answer reaches counts as none', () => {
  const view = (id: number, day: number): Event => {
    return { id, at: day * dayMs, session: id, kind: 'pageview', path: '/', source: '', engagementMs: 0 }
  }
  const prevDayAfter = (apart: number) =>
    derive([view(1, firstDay), view(2, firstDay + apart)]).sessions.at(-1)!.seen.prev_day[0]
  expect([knownDaysMax, knownDaysMax + 1].map(prevDayAfter)).toEqual([firstDay, neverBefore])
})

test('rows derived in two steps, the second with events of any time, are those derived at once', () => {
  fc.assert(
    fc.property(someEvents, fc.array(fc.boolean(), { minLength: 30, maxLength: 30 }), (events, isFirst) => {
      const earlier = events.filter(({ id }) => isFirst[id])
      const later = events.filter(({ id }) => !isFirst[id])
      fc.pre(earlier.length > 0 && later.length > 0)
      const first = derive(earlier)
      const fromDay = Math.min(...later.map(dayOf))
      const read = events.filter((event) => dayOf(event) >= fromDay - 2)
      const second = derive(read, fromDay, historyBefore(fromDay, first.visitors))
      expect(standing(first, second)).toEqual(standing(derive(events)))
    }),
    runs,
  )
})
