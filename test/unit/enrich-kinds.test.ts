import { describe, expect, test } from 'vitest'
import { eventTypes } from '../../schemas/event/event-fields.ts'
import { kinds, vitalMetrics } from '../../schemas/event/row.ts'
import { type EventLike, rowOf } from '../support/enriching.ts'

describe('the kind of an event', () => {
  test.each([
    ['pageview', kinds.pageview],
    ['link_click', kinds.autocapture],
    ['outbound_click', kinds.autocapture],
    ['button_click', kinds.autocapture],
    ['form_submit', kinds.autocapture],
    ['web_vital', kinds.web_vital],
    ['page_leave', kinds.page_leave],
    ['signup', kinds.custom],
    ['Pageview', kinds.custom],
    ['constructor', kinds.custom],
    ['toString', kinds.custom],
    ['__proto__', kinds.custom],
  ])('is told by its name: %s', (event_name, kind) => {
    expect(rowOf({ event_name })).toMatchObject({ event_name, kind, event_type: eventTypes.track })
    expect(rowOf({ event_name, event_type: 'identify' })).toMatchObject({
      kind: kinds.identify,
      event_type: eventTypes.identify,
    })
    expect(rowOf({ event_name, event_type: 'conversion' })).toMatchObject({
      kind: kinds.conversion,
      event_type: eventTypes.conversion,
    })
    expect(rowOf({ event_name, event_type: null }).kind).toBe(kind)
  })
})

describe('a web vital', () => {
  const vital = (properties: unknown, event: EventLike = {}) => {
    const { metric, metric_value } = rowOf({
      event_name: 'web_vital',
      properties: properties as Record<string, unknown>,
      ...event,
    })
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
    [null],
    [{}],
    [{ metric: 'TTFB', value: 1 }],
    [{ metric: 'none', value: 1 }],
    [{ metric: 'constructor', value: 1 }],
    [{ metric: 1, value: 1 }],
    [{ metric: 'LCP' }],
    [{ metric: 'LCP', value: '2500' }],
    [{ metric: 'LCP', value: -1 }],
    [{ metric: 'LCP', value: null }],
  ])('that is none stays an event without a metric: %j', (properties) => {
    expect(vital(properties)).toEqual(none)
  })

  test('is one of that name only', () => {
    expect(vital({ metric: 'LCP', value: 1 }, { event_name: 'other' })).toEqual(none)
    expect(vital({ metric: 'LCP', value: 1 }, { event_type: 'conversion' })).toEqual(none)
  })
})

describe('leaving a page', () => {
  const leave = (properties: Record<string, unknown>, event_name = 'page_leave') => {
    const { engagement_ms, scroll_depth } = rowOf({ event_name, properties })
    return [engagement_ms, scroll_depth]
  }

  test('has its engagement and depth, within the range of their columns', () => {
    expect(leave({ engagement_ms: 1234.5, scroll_depth: 80 })).toEqual([1235, 80])
    expect(leave({ engagement_ms: 1e300, scroll_depth: 101 })).toEqual([2 ** 32 - 1, 100])
    expect(leave({ engagement_ms: -1, scroll_depth: '80' })).toEqual([0, 0])
    expect(leave({ engagement_ms: 1234, scroll_depth: 80 }, 'other')).toEqual([0, 0])
  })
})

test('what one event leaves behind is not seen in the next', () => {
  rowOf({
    event_name: 'web_vital',
    properties: { metric: 'LCP', value: 1 },
    url: 'https://example.com/?utm_source=a&utm_campaign=c&gclid=1',
    email: 'a@example.com',
    anonymous_id: 'a',
    session_id: 's',
    title: 't',
    screen_width: 5,
    language: 'de',
    timezone: 'UTC',
    client_event_id: 'x',
  })
  const { visitor: _visitor, session: _session, ...row } = rowOf({ event_name: 'plain' })
  expect(row).toEqual({
    id: 0,
    workspace_id: 7,
    occurred_at: row.occurred_at,
    received_at: row.received_at,
    event_type: eventTypes.track,
    kind: kinds.custom,
    session_named: 0,
    email_hash: { hi: 0, lo: 0 },
    device: 1,
    metric: 0,
    metric_value: 0,
    engagement_ms: 0,
    scroll_depth: 0,
    screen_width: 0,
    link_id: 0,
    post_id: 0,
    country: '\0\0',
    event_name: 'plain',
    anonymous_id: '',
    client_event_id: '',
    path: '',
    url: '',
    title: '',
    referrer: '',
    source: 'direct',
    medium: 'none',
    campaign: '',
    content: '',
    browser: 'Chrome',
    os: 'Windows',
    language: '',
    timezone: '',
    properties: '',
  })
})

test('properties are kept as JSON, prototypes among them', () => {
  const properties = JSON.parse('{"__proto__":{"a":1},"constructor":2,"b":[true,null,"é"]}')
  expect(JSON.parse(rowOf({ properties }).properties)).toEqual(properties)
  expect(rowOf({ properties: {} }).properties).toBe('{}')
})
