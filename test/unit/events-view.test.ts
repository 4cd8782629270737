/** The page of events is read from its address as it was written, and finds the counts of each row. */
import { expect, test } from 'vitest'
import type { EventNames } from '../../schemas/resources/event-names.ts'
import * as page from '../../web/dashboard/events/events-view.ts'
import { readView } from '../../web/dashboard/view/address.ts'

test.each([
  ['', '?'],
  ['?interval=week&figure=visitors&row=a%26b&row=&days=7&path=%2Fa', '?interval=week'],
  ['?of=sign*up&property=plan&start=2026-01-01&end=2026-01-01&event=%21x', '?interval=hour'],
])('%s is read as it was written, and asks by its interval', (search, begin) => {
  const [view, events] = [readView(search), page.readEvents(search)]
  expect(page.writeEvents(view, events)).toBe(`/dashboard/events${search}`)
  const asked = new URL(page.eventsQuestionOf(view, events), 'http://localhost')
  expect(asked.search).toContain(begin)
  expect(asked.searchParams.get('name')).toBe(events.of ?? null)
  expect(asked.searchParams.getAll('event')).toEqual(events.of === undefined ? [] : ['!x'])
  expect(asked.searchParams.get('property')).toBe(events.property ?? null)
})

test('a property without its event, and intervals that are not known, are as if they were not there', () => {
  expect(page.readEvents('?interval=minute&figure=x&property=plan')).toEqual({ figure: 'events', rows: [] })
})

test('hours are offered where a range has no more of them than the API takes, and days stand in for them elsewhere', () => {
  const offered = (search: string) => Object.keys(page.intervalsOf(readView(search))).includes('hour')
  // 83 days are 1,992 hours, or 1,993 with a clock that is set back.
  const spans = ['?days=30', '?start=2026-01-01&end=2026-03-24', '?start=2026-01-01&end=2026-03-25', '?days=90']
  expect(spans.map(offered)).toEqual([true, true, false, false])
  const search = '?interval=hour&days=90'
  expect(page.intervalOf(readView(search), page.readEvents(search))).toBe('day')
})

test('ten lines differ, and each keeps its look in another order and beside fewer others', () => {
  const keys = ['signup', 'download', 'search', 'login', 'upgrade', 'share', 'invite', 'export', 'play', '']
  const looksOf = (some: readonly string[]) => {
    const rows = some.map((event) => ({ event, value: null }))
    const series = [{ rows: some.map(() => ({ events: 1, visitors: 1 })) }]
    return new Map(page.linesOf({ rows, series } as unknown as EventNames).map(({ key, look }) => [key, look]))
  }
  const looks = looksOf(keys)
  expect(new Set(looks.values()).size).toBe(10)
  expect(looksOf(keys.toReversed())).toEqual(looks)
  expect(looksOf(['upgrade']).get('upgrade')).toBe(looksOf(['upgrade', 'signup']).get('upgrade'))
})

test('rows are sorted by a column, equal ones in the order of the answer', () => {
  const rows = [3, 1, 3, 2].map((sessions, at) => ({ event: `${at}`, value: null, sessions }))
  const lines = page.linesOf({ rows } as unknown as EventNames)
  const sorted = (isRising: boolean) => page.sortedLines(lines, { by: 'sessions', isRising }).map(({ key }) => key)
  expect([sorted(false), sorted(true)]).toEqual([
    ['0', '2', '3', '1'],
    ['1', '3', '0', '2'],
  ])
})

test('lines have the counts of their place, and those without counts are in no chart', () => {
  const rows = ['', 'v1', 'v2'].map((value) => ({ event: 'signup', value }))
  const series = [0, 1].map((bucket) => ({ rows: [1, 2].map((n) => ({ events: 10 * n + bucket, visitors: n })) }))
  const lines = page.linesOf({ rows, series } as unknown as EventNames)
  expect(lines.map(({ key, counts }) => [key, counts?.map(({ events }) => events)])).toEqual([
    ['', [10, 11]],
    ['v1', [20, 21]],
    ['v2', undefined],
  ])
  const keysOf = (search: string) => page.chosenLines(lines, page.readEvents(search)).map(({ key }) => key)
  expect([keysOf(''), keysOf('?row=v1'), keysOf('?row=v2')]).toEqual([['', 'v1'], ['v1'], ['', 'v1']])
})
