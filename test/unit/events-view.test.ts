/** The page of events is read from its address as it was written, and finds the counts of each row. */
import { expect, test } from 'vitest'
import type { EventNames } from '../../schemas/resources/event-names.ts'
import { readView } from '../../web/dashboard/address.ts'
import * as page from '../../web/dashboard/events-view.ts'

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

test('lines have the counts of their place, and those without counts are in no chart', () => {
  const rows = ['', 'v1', 'v2'].map((value) => ({ event: 'signup', value }))
  const series = [0, 1].map((bucket) => ({ rows: [1, 2].map((n) => ({ events: 10 * n + bucket, visitors: n })) }))
  const lines = page.linesOf({ rows, series } as unknown as EventNames)
  expect(lines.map(({ key, place, counts }) => [key, place, counts?.map(({ events }) => events)])).toEqual([
    ['', 0, [10, 11]],
    ['v1', 1, [20, 21]],
    ['v2', 2, undefined],
  ])
  const keysOf = (search: string) => page.chosenLines(lines, page.readEvents(search)).map(({ key }) => key)
  expect([keysOf(''), keysOf('?row=v1'), keysOf('?row=v2')]).toEqual([['', 'v1'], ['v1'], ['', 'v1']])
})
