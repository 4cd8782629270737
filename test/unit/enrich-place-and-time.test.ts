import { describe, expect, test } from 'vitest'
import { noCountry } from '../../schemas/event/row.ts'
import { readStep } from '../../schemas/funnel-steps.ts'
import { filtersOf, readPattern } from '../../schemas/session-filters.ts'
import { chrome, enrich, now, rowOf } from '../support/enriching.ts'

const iso = (ms: number) => new Date(ms).toISOString()
const hour = 3_600_000
const same = (text: string): [string, string] => [`/${text}`, `/${text}`]

describe('the path', () => {
  test.each([
    ['https://example.com/a/b?c=d#e', '/a/b'],
    ['https://example.com', '/'],
    ['https://example.com?x=1', '/'],
    ['https://example.com#x', '/'],
    ['https://example.com/a?u=https://other.example/b', '/a'],
    ['/a/b?c', '/a/b'],
    ['https://[2001:db8::1]:8080/x', '/x'],
    // With the route of a single-page app.
    ['https://example.com/#/orders?tab=1', '/#/orders'],
    ['https://example.com/app/?a=1#!/orders/7', '/app/#!/orders/7'],
    ['https://example.com#/orders', '/#/orders'],
    ['https://example.com/#/?tab=1', '/'],
    ['https://example.com/#!/', '/'],
  ])('is that of the URL: %s', (url, path) => {
    expect(rowOf({ url })).toMatchObject({ url, path })
  })

  test.each([
    ['/%C3%BCber-uns/%e6%97%a5%e6%9c%ac', '/über-uns/日本'],
    ['/shop/blue bike', '/shop/blue%20bike'],
    ['/u%CC%88/%F0%9F%98%80/%E2%9D%A4%EF%B8%8F#/stra%C3%9Fe', '/u\u0308/😀/❤\uFE0F#/straße'],
    // ASCII, no UTF-8, blanks, control and format characters, and letters that can't be seen stay as they are.
    ...['%2F%20%25%3F%23%00%C3%28', '%C3%C3/%80%80%ED%A0%80%C0%AF%F4%90%80%80', '%C2%A0%E3%80%80%C2%85%E2%80%A8'].map(
      same,
    ),
    ...['%E2%80%AE%E2%80%8B%EF%BB%BF', '%E3%85%A4%E2%A0%80', '%EE%80%80%F3%A0%81%81', '%CD%B8', '%25C3%25BC'].map(same),
  ])('is as people read it, and found by filters and steps of either form: %s', (sent, path) => {
    expect([rowOf({ url: `https://example.com${sent}` }).path, rowOf({ path: sent }).path]).toEqual([path, path])
    for (const value of [sent, path]) {
      expect(filtersOf({ path: [value], entry_path: [value] })?.get('entry_path')).toEqual([readPattern(path)])
      expect(readStep(`path:${value}`)?.pattern).toEqual(readPattern(path))
    }
  })

  test('is the one that the sender names, without parameters, and empty where nothing was sent', () => {
    expect(rowOf({ url: 'https://example.com/real', path: '/named?x=1' }).path).toBe('/named')
    expect(rowOf({ path: '/named#x' }).path).toBe('/named')
    expect(rowOf({ path: '#/named?x=1' }).path).toBe('/#/named')
    expect(rowOf({ url: 'https://example.com/real', path: '' }).path).toBe('/real')
    expect(rowOf({})).toMatchObject({ path: '', url: '', referrer: '' })
  })
})

test('a referrer is kept, unless it would run a script', () => {
  for (const referrer of ['https://example.com/x', 'android-app://com.example/', 'example.com:8080/x', '/page'])
    expect(rowOf({ referrer }).referrer).toBe(referrer)
  const script = 'javascript:alert(1)'
  for (const referrer of [script, ' JavaScript:alert(1)', 'java\nscript:alert(1)', 'data:text/html,x', 'vbscript:x'])
    expect([referrer, rowOf({ referrer }).referrer]).toEqual([referrer, ''])
})

describe('the time of an event', () => {
  test.each([
    // That of its arrival when it says none; its own, to the age of 72 hours, and never later than now.
    [{}, now],
    [{ sent_at: iso(now - hour) }, now],
    [{ occurred_at: iso(now - 5 * hour) }, now - 5 * hour],
    [{ occurred_at: iso(now - 72 * hour) }, now - 72 * hour],
    [{ occurred_at: iso(now + 1) }, now],
    [{ occurred_at: '9999-12-31T23:59:59Z' }, now],
    // Local to the workspace without an offset.
    [{ occurred_at: '2026-11-20T12:00:00' }, now - hour],
    // Corrected by the clock that sent it. If that is off by days, only to an age that an event may have.
    [{ occurred_at: iso(now - 2 * hour - 1000), sent_at: iso(now - 2 * hour) }, now - 1000],
    [{ occurred_at: iso(now + 2 * hour - 1000), sent_at: iso(now + 2 * hour) }, now - 1000],
    [{ occurred_at: iso(now - 1000), sent_at: iso(now - 73 * hour) }, now - 1000],
    [{ occurred_at: iso(now - 1000), sent_at: iso(now + 73 * hour) }, now - 1000],
    [{ occurred_at: iso(now - 120 * hour - 1000), sent_at: iso(now - 120 * hour) }, now - 1000],
    [{ occurred_at: iso(now + 120 * hour - 1000), sent_at: iso(now + 120 * hour) }, now - 1000],
    [{ occurred_at: '1970-01-01T00:00:00Z', sent_at: '1970-01-01T00:00:01Z' }, now - 1000],
  ])('that says %j is within what it says and now', (event, at) => {
    expect(rowOf(event)).toMatchObject({ occurred_at: at, received_at: now })
  })

  test('that is older, or none, refuses the event, naming where it stands', () => {
    const input = iso(now - 72 * hour - 1)
    const msg = 'Value error, the event should not be older than 72 hours'
    const error = { type: 'value_error', loc: ['body', 'occurred_at'], msg, input, ctx: { error: {} } }
    expect(enrich({ occurred_at: input })).toEqual({ stream: 'rejected', detail: [error] })
    expect(enrich({ occurred_at: '1970-01-01T00:00:00Z', sent_at: '1970-01-04T00:00:01Z' }).stream).toBe('rejected')
    const enriched = enrich({ occurred_at: 'x', sent_at: '2026-13-01T00:00:00Z' })
    expect(enriched.stream === 'rejected' && enriched.detail.map(({ loc, type }) => [...loc, type].join(' '))).toEqual([
      'body occurred_at datetime_from_date_parsing',
      'body sent_at datetime_from_date_parsing',
    ])
  })
})

describe('the device', () => {
  test.each([
    ['axios/1.6.0', 'other'],
    ['', 'unknown'],
    ['garbage \u0001 é', 'other'],
  ])('of a user agent that says nothing of it is none or another: %j', (userAgent, expected) => {
    const { device, browser, os } = rowOf({}, { sender: { userAgent } })
    const named = ['unknown', 'desktop', 'mobile', 'tablet', 'other'][device]
    expect([named, browser, os]).toEqual([expected, '', ''])
  })

  test('and the country are the visitor’s whom a server tells of, not that server’s', () => {
    expect(rowOf({ user_agent: chrome }, { sender: { userAgent: 'axios/1.6.0' } }).browser).toBe('Chrome')
    const sender = { country: 'DE' }
    expect(rowOf({}, { sender }).country).toBe('DE')
    expect(rowOf({ ip: '198.51.100.7' }, { sender }).country).toBe(noCountry)
    expect(rowOf({ ip: 'nonsense' }, { sender }).country).toBe(noCountry)
  })
})
