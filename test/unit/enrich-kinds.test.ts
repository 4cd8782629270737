import { describe, expect, test } from 'vitest'
import { eventTypes } from '../../schemas/event/event-fields.ts'
import { kinds, vitalMetrics } from '../../schemas/event/row.ts'
import { type EventLike, makeEnrich, rowOf } from '../support/enriching.ts'

test.each<[string, number]>([
  ['pageview', kinds.pageview],
  ...['link_click', 'outbound_click', 'button_click', 'form_submit', 'file_download', 'not_found', 'site_search'].map(
    (name): [string, number] => [name, kinds.autocapture],
  ),
  ['web_vital', kinds.web_vital],
  ['page_leave', kinds.page_leave],
  ...['signup', 'Pageview', 'constructor', 'toString', '__proto__'].map((name): [string, number] => [
    name,
    kinds.custom,
  ]),
])('the kind of an event is told by its name: %s', (event_name, kind) => {
  const { track, identify, conversion } = eventTypes
  expect(rowOf({ event_name })).toMatchObject({ event_name, kind, event_type: track })
  for (const none of [null, ''] as const)
    expect(rowOf({ event_name, event_type: none })).toMatchObject({ kind, event_type: track })
  for (const [event_type, number] of Object.entries({ identify, conversion }) as ['identify' | 'conversion', number][])
    expect(rowOf({ event_name, event_type })).toMatchObject({ kind: kinds[event_type], event_type: number })
})

describe('a web vital', () => {
  const vital = (properties: unknown, event: EventLike = {}) => {
    const sent = { event_name: 'web_vital', properties: properties as Record<string, unknown>, ...event }
    const { metric, metric_value } = rowOf(sent)
    return [metric, metric_value]
  }
  const none = [vitalMetrics.none, 0]

  test('has its metric and value', () => {
    expect(vital({ metric: 'LCP', value: 2500.5 })).toEqual([vitalMetrics.LCP, 2500.5])
    expect(vital({ metric: 'cls', value: 0 })).toEqual([vitalMetrics.CLS, 0])
    expect(vital({ metric: 'INP', value: 1 })).toEqual([vitalMetrics.INP, 1])
    expect(vital({ metric: 'Fcp', value: 1 })).toEqual([vitalMetrics.FCP, 1])
  })

  test.each([
    null,
    {},
    { metric: 'TTFB', value: 1 },
    { metric: 'none', value: 1 },
    { metric: 'constructor', value: 1 },
    { metric: 1, value: 1 },
    { metric: 'LCP' },
    { metric: 'LCP', value: '2500' },
    { metric: 'LCP', value: null },
  ])('that is none stays an event without a metric: %j', (properties) => {
    expect(vital(properties)).toEqual(none)
  })

  test('is one of that name only', () => {
    expect(vital({ metric: 'LCP', value: 1 }, { event_name: 'other' })).toEqual(none)
    expect(vital({ metric: 'LCP', value: 1 }, { event_type: 'conversion' })).toEqual(none)
  })
})

test('leaving a page has its engagement and depth, within the range of their columns', () => {
  const leave = (properties: Record<string, unknown>, event_name = 'page_leave') => {
    const { engagement_ms, scroll_depth } = rowOf({ event_name, properties })
    return [engagement_ms, scroll_depth]
  }
  expect(leave({ engagement_ms: 1234.5, scroll_depth: 80 })).toEqual([1235, 80])
  expect(leave({ engagement_ms: 1e300, scroll_depth: 101 })).toEqual([2 ** 32 - 1, 100])
  expect(leave({ engagement_ms: -1, scroll_depth: '80' })).toEqual([0, 0])
  expect(leave({ engagement_ms: 1234, scroll_depth: 80 }, 'other')).toEqual([0, 0])
})

test('what one event leaves behind is not seen in the next', () => {
  const used = makeEnrich()
  used({
    event_name: 'web_vital',
    properties: { metric: 'LCP', value: 1 },
    email: 'a@example.com',
    title: 't',
    url: 'https://example.com/?utm_source=a&utm_campaign=c&utm_content=d&gclid=1',
    referrer: 'https://a.example/',
    anonymous_id: 'a',
    session_id: 's',
    screen_width: 5,
    language: 'de',
    timezone: 'UTC',
    client_event_id: 'x',
  })
  const plain = makeEnrich()({ event_name: 'plain' })
  expect(used({ event_name: 'plain' })).toEqual(plain)
  expect(plain).toMatchObject({ row: { title: '', source: 'direct', metric: 0, client_event_id: '', properties: '' } })
})

test('properties are kept as JSON, prototypes among them', () => {
  const properties = JSON.parse('{"__proto__":{"a":1},"constructor":2,"b":[true,null,"é"]}')
  expect(JSON.parse(rowOf({ properties }).properties)).toEqual(properties)
  expect(rowOf({ properties: {} }).properties).toBe('{}')
})

// ClickHouse found none of the properties beside such a number.
test('integers beyond 64 bits are kept as the same numbers with an exponent', () => {
  const text = 'say "118234567890123450000", \\'
  const properties = {
    plan: text,
    id: 1.5e20,
    n: [-1e20, 2 ** 63, 0.00000123456789012],
    [text]: 1e21,
  }
  const json = rowOf({ properties }).properties
  expect(JSON.parse(json)).toEqual(properties)
  expect(json).toContain('"id":1.5e+20,"n":[-1e+20,9223372036854776000,')
})
