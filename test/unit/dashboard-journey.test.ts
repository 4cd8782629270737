/** A journey's lines: acts as lines, measurements with the page view that they are of. */
import { expect, test } from 'vitest'
import type { Event } from '../../schemas/resources/overview.ts'
import { clickedOf, linesOf, sourcesOf } from '../../web/dashboard/people/journey-lines.ts'

const event = (id: number, event_name: string, path: string, properties: object = {}, session_id = 1) =>
  ({ id, event_name, path, properties, session_id }) as Event

test('measurements stand with the last view of their page in their session, and never alone', () => {
  const events = [
    event(1, 'page_leave', '/', { engagement_ms: 9_000 }),
    event(2, 'pageview', '/'),
    event(3, 'web_vital', '/', { metric: 'LCP', value: 900 }),
    event(4, 'page_leave', '/', { engagement_ms: 1_000, scroll_depth: 40 }),
    event(5, 'page_leave', '/', { engagement_ms: 500, scroll_depth: 90 }),
    event(6, 'signup', '/'),
    event(7, 'pageview', '/'),
    event(8, 'page_leave', '/', { engagement_ms: 'long' }, 2),
    event(9, 'page_leave', '/', { engagement_ms: 70 }),
  ]
  const lines = linesOf(events.reverse()).map(({ event: { id }, ...measures }) => [id, measures])
  expect(lines).toEqual([
    [7, { engagedMs: 70, scrollDepth: 0, vitals: [] }],
    [6, { engagedMs: 0, scrollDepth: 0, vitals: [] }],
    [2, { engagedMs: 1_500, scrollDepth: 90, vitals: [{ metric: 'LCP', value: 900 }] }],
  ])
})

test('a visit has its source once, and another one where a later page was reached from elsewhere', () => {
  const from = (id: number, source: string, session_id: number) =>
    ({ ...event(id, 'pageview', '/', {}, session_id), source }) as Event
  const events = [
    from(1, 'google', 1),
    from(2, 'direct', 1),
    from(3, 'direct', 2),
    from(4, 'news', 2),
    from(5, 'direct', 2),
  ]
  const shown = (areAll: boolean) => [...sourcesOf([...events].reverse(), areAll)]
  expect(shown(true)).toEqual([
    [1, 'google'],
    [3, 'direct'],
    [4, 'news'],
  ])
  // The first of some may be an inner page.
  events.shift()
  expect(shown(false)).toEqual([
    [3, 'direct'],
    [4, 'news'],
  ])
})

test('a click says what was clicked, by its text or where it leads', () => {
  expect(clickedOf(event(1, 'button_click', '/', { text: 'Buy' }))).toBe('Buy')
  expect(clickedOf(event(1, 'outbound_click', '/', { text: '', href: 'https://a.example' }))).toBe('https://a.example')
  expect(clickedOf(event(1, 'signup', '/', { text: 'Buy' }))).toBe('')
})
