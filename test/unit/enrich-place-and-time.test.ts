import { describe, expect, test } from 'vitest'
import { noCountry } from '../../schemas/event/row.ts'
import { chrome, enrich, now, rowOf } from '../support/enriching.ts'

const iso = (ms: number) => new Date(ms).toISOString()
const hour = 3_600_000

describe('the path', () => {
  test.each([
    ['https://example.com/a/b?c=d#e', '/a/b'],
    ['https://example.com', '/'],
    ['https://example.com?x=1', '/'],
    ['https://example.com#x', '/'],
    ['https://example.com/a?u=https://other.example/b', '/a'],
    ['/a/b?c', '/a/b'],
    ['https://[2001:db8::1]:8080/x', '/x'],
  ])('is that of the URL: %s', (url, path) => {
    expect(rowOf({ url })).toMatchObject({ url, path })
  })

  test('is the one that the sender names, without parameters', () => {
    expect(rowOf({ url: 'https://example.com/real', path: '/named?x=1' }).path).toBe('/named')
    expect(rowOf({ path: '/named#x' }).path).toBe('/named')
    expect(rowOf({ url: 'https://example.com/real', path: '' }).path).toBe('/real')
  })

  test('is empty where nothing was sent', () => {
    expect(rowOf({})).toMatchObject({ path: '', url: '', referrer: '' })
  })
})

describe('the referrer', () => {
  test.each(['https://example.com/x', 'android-app://com.example/', 'example.com:8080/x', '/page'])(
    '%s is kept',
    (referrer) => {
      expect(rowOf({ referrer }).referrer).toBe(referrer)
    },
  )

  test.each(['javascript:alert(1)', ' JavaScript:alert(1)', 'java\nscript:alert(1)', 'data:text/html,x', 'vbscript:x'])(
    'is empty where it would run a script: %j',
    (referrer) => {
      expect(rowOf({ referrer }).referrer).toBe('')
    },
  )
})

describe('the time of an event', () => {
  test('is that of its arrival when it says none', () => {
    expect(rowOf({})).toMatchObject({ occurred_at: now, received_at: now })
    expect(rowOf({ sent_at: iso(now - hour) }).occurred_at).toBe(now)
  })

  test('is its own, to the age of 72 hours', () => {
    expect(rowOf({ occurred_at: iso(now - 5 * hour) }).occurred_at).toBe(now - 5 * hour)
    expect(rowOf({ occurred_at: iso(now - 72 * hour) }).occurred_at).toBe(now - 72 * hour)
    expect(enrich({ occurred_at: iso(now - 72 * hour - 1) })).toEqual({
      stream: 'rejected',
      detail: [
        {
          type: 'value_error',
          loc: ['body', 'occurred_at'],
          msg: 'Value error, the event should not be older than 72 hours',
          input: iso(now - 72 * hour - 1),
          ctx: { error: {} },
        },
      ],
    })
  })

  test('is never later than now', () => {
    expect(rowOf({ occurred_at: iso(now + 1) }).occurred_at).toBe(now)
    expect(rowOf({ occurred_at: '9999-12-31T23:59:59Z' }).occurred_at).toBe(now)
  })

  test('is local to the workspace without an offset', () => {
    expect(rowOf({ occurred_at: '2026-11-20T12:00:00' }).occurred_at).toBe(now - hour)
  })

  test('is corrected by the clock that sent it', () => {
    const slow = 2 * hour
    expect(rowOf({ occurred_at: iso(now - slow - 1000), sent_at: iso(now - slow) }).occurred_at).toBe(now - 1000)
    expect(rowOf({ occurred_at: iso(now + slow - 1000), sent_at: iso(now + slow) }).occurred_at).toBe(now - 1000)
  })

  test('is not corrected by a clock that is off by days', () => {
    const event = { occurred_at: iso(now - 1000), sent_at: iso(now - 73 * hour) }
    expect(rowOf(event).occurred_at).toBe(now - 1000)
    expect(enrich({ occurred_at: '1970-01-01T00:00:00Z', sent_at: '1970-01-01T00:00:01Z' }).stream).toBe('rejected')
  })

  test('that is none refuses the event, naming where it stands', () => {
    const enriched = enrich({ occurred_at: 'x', sent_at: '2026-13-01T00:00:00Z' })
    expect(enriched.stream === 'rejected' && enriched.detail.map(({ loc, type }) => [...loc, type].join(' '))).toEqual([
      'body occurred_at datetime_from_date_parsing',
      'body sent_at datetime_from_date_parsing',
    ])
  })
})

describe('the device', () => {
  const deviceOf = (userAgent: string) => {
    const { device, browser, os } = rowOf({}, { sender: { userAgent } })
    return [['unknown', 'desktop', 'mobile', 'tablet', 'other'][device], browser, os]
  }

  test.each([
    ['axios/1.6.0', ['other', '', '']],
    ['', ['unknown', '', '']],
    ['garbage \u0001 é', ['other', '', '']],
  ])('of a user agent that says nothing of it is none or another: %j', (userAgent, expected) => {
    expect(deviceOf(userAgent)).toEqual(expected)
  })

  test('is that of the visitor whose user agent a server forwards', () => {
    expect(rowOf({ user_agent: chrome }, { sender: { userAgent: 'axios/1.6.0' } }).browser).toBe('Chrome')
  })

  test('and country are told apart from those of a forwarding server', () => {
    const sender = { country: 'DE' }
    expect(rowOf({}, { sender }).country).toBe('DE')
    expect(rowOf({ ip: '198.51.100.7' }, { sender }).country).toBe(noCountry)
  })
})
