/** The dashboard's view stands in its address, and asks the API for just that. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { devices } from '../../schemas/event/row.ts'
import { channels } from '../../schemas/reference/channels.ts'
import { countryName } from '../../schemas/reference/country-names.ts'
import { isCountryCode } from '../../schemas/reference/country-zones.ts'
import { filterNames } from '../../schemas/reference/filter-names.ts'
import { readPattern } from '../../schemas/session-filters.ts'
import { exactPathOf, mapQuestionOf, readMapped, writeMapped } from '../../web/dashboard/click-map/click-map-address.ts'
import { briefMoney, bucketName, change, timeMarks } from '../../web/dashboard/parts/format.ts'
import * as address from '../../web/dashboard/view/address.ts'
import * as values from '../../web/dashboard/view/filter-values.ts'
import { seed } from '../support/short-form.ts'

const { comparisons, filterOf, questionOf, readView, shifted, shownValue, untilNow, withDays, writeView } = address
const views: fc.Arbitrary<address.View> = fc.record({
  range: fc.constantFrom(...address.rangeKeys),
  days: fc.constantFrom(null, { from: '2026-01-31', to: '2026-01-31' }, { from: '2025-12-01', to: '2026-02-28' }),
  compare: fc.constantFrom(...(Object.keys(comparisons) as (keyof typeof comparisons)[])),
  filters: fc.array(fc.record({ name: fc.constantFrom(...filterNames), value: fc.string({ unit: 'grapheme' }) })),
  card: fc.constantFrom('visitors', 'sessions', 'revenue_cents'),
  tabs: fc.subarray<address.Tab>(['channels', 'exit_pages', 'map', 'systems']),
})

test('a view is read from its address as it was written', () => {
  fc.assert(
    fc.property(views, (view) => {
      const read = readView(writeView(view))
      // The order between several names is the address's.
      expect(read).toEqual(view)
    }),
    { seed },
  )
})

test('the page of a view is its only one, whatever is left out, and another page takes its place', () => {
  const view = readView('?device=mobile&path=!/jobs&path=/blog/*')
  expect(address.pageOf(view)).toBe('/blog/*')
  expect(writeView(address.withPage(view, '/a*!'))).toBe('?device=mobile&path=%21%2Fjobs&path=%2Fa%5C*%5C%21')
  for (const search of ['', '?path=!/jobs', '?path=/a&path=/b', '?entry_path=/a']) {
    expect([search, address.pageOf(readView(search))]).toEqual([search, undefined])
  }
})

test('a filter of a text means this text alone', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.boolean(), (text, isNot) => {
      const { value } = filterOf('path', text, isNot)
      expect(readPattern(value)).toEqual({ isNot, texts: [text] })
      expect(shownValue(value)).toBe(isNot ? `not ${text}` : text)
    }),
    { seed },
  )
})

test('the form has each device and channel of the API, and an example of every other property', () => {
  const { device, channel } = values.choices
  expect(Object.keys(device!).sort()).toEqual(Object.keys(devices).sort())
  expect(Object.keys(channel!)).toEqual(channels)
  expect([...Object.keys(values.examples), ...Object.keys(values.choices)].sort()).toEqual([...filterNames].sort())
})

test('a country is its name as lists show it, its code, or nothing', () => {
  const codes = values.countryCodes()
  expect(codes.size).toBeGreaterThan(240)
  for (const [name, code] of codes) {
    if (code !== 'unknown') expect(name).toBe(countryName(code))
    expect([name, values.countryCode(name), values.countryCode(code)]).toEqual([name, code, code])
    expect([code, code === 'unknown' || isCountryCode(code)]).toEqual([code, true])
    expect(values.countryName(code)).toBe(name)
  }
  const texts = ['germany', ' de ', 'DD', 'UK', "cote d'ivoire", 'unknown', 'Germ', 'D*', 'XX', 'ZZ', '']
  const found = ['DE', 'DE', 'DE', 'GB', 'CI', 'unknown', ...Array(5).fill(undefined)]
  expect(texts.map(values.countryCode)).toEqual(found)
  expect(shownValue('!DE', values.countryName)).toBe('not Germany')
  expect(['D*', '__'].map(values.countryName)).toEqual(['D*', '__'])
})

test('an address of anything shows the last 30 days', () => {
  const odd = ['', '?days=31&compare=never&card=events', '?days=__proto__&tab=1&tab=sources', '?start=x&end=y']
  for (const search of [...odd, '?start=2026-02-02&end=2026-02-01'])
    expect([search, readView(search)]).toEqual([
      search,
      { range: 'm', days: null, compare: 'previous', filters: [], card: 'visitors', tabs: [] },
    ])
})

test('the question has the days, the comparison and each filter', () => {
  const view = readView('?days=7&compare=none&source=google&source=bing&path=!%2Fjobs*')
  expect(questionOf(view)).toBe('days=7&compare=none&source=google&source=bing&path=%21%2Fjobs*')
  const [google] = view.filters
  expect(address.withFilter(view, google!)).toBe(view)
  expect(address.withoutFilter(view, 0).filters).toHaveLength(2)
})

test('a range is moved by its own length, and never into the future', () => {
  const today = '2026-03-02'
  const week = shifted(readView('?days=7&source=a'), today, -1)
  expect(writeView(week)).toBe('?start=2026-02-17&end=2026-02-23&days=7&source=a')
  expect(writeView(shifted(week, today, 1))).toBe('?days=7&source=a')
  expect(writeView(shifted(shifted(week, today, 1), today, 1))).toBe('?days=7&source=a')
  expect(shifted(readView('?days=1'), today, -1).days).toEqual({ from: '2026-03-01', to: '2026-03-01' })
  // Hours are moved by whole days.
  expect(shifted(readView('?start=2026-03-01T05:00&end=2026-03-01T07:00'), today, -1).days?.from).toBe('2026-02-28')
  const night = shifted(readView('?start=2026-02-28T22:00&end=2026-03-01T00:00'), today, -1)
  expect(night.days).toEqual({ from: '2026-02-27', to: '2026-02-27' })
})

test('chosen days that end today are compared with as long a time, not with whole days', () => {
  const today = '2026-03-02'
  const ask = (search: string) => questionOf(untilNow(readView(search), today))
  expect(ask('?start=2026-02-20&end=2026-03-02')).toBe('start=2026-02-20&compare=previous')
  expect(ask('?start=2026-02-20&end=2026-03-01')).toBe('start=2026-02-20&end=2026-03-01&compare=previous')
  const view = readView('?source=a')
  expect(writeView(withDays(view, { from: '2026-02-24', to: today }, today))).toBe('?days=7&source=a')
  expect(withDays(view, { from: '2026-02-20', to: today }, today).days?.from).toBe('2026-02-20')
})

test('a panel has one tab in the address, and its first one needs none', () => {
  const chosen = (search: string, ...tabs: address.Tab[]) => writeView(tabs.reduce(address.withTab, readView(search)))
  expect(chosen('', 'channels', 'map', 'campaigns')).toBe('?tab=map&tab=campaigns')
  expect(chosen('?tab=campaigns&tab=channels&source=a', 'countries')).toBe('?source=a&tab=channels')
  expect(chosen('?tab=channels', 'sources')).toBe('')
  expect(questionOf(readView('?card=sessions&tab=map'))).toBe('days=30&compare=previous')
})

test('a change is told where both sides have enough of what the figure is made of', () => {
  const figures = { visitors: 100, pageviews: 90, sessions: 100, bounce_rate: 50, average_session_seconds: 9 }
  const before = { ...figures, conversions: 30, revenue_cents: 500 }
  const now = { ...before, visitors: 120, conversions: 60, revenue_cents: 250 }
  const changes = (one: typeof now, other = before) =>
    (['visitors', 'pageviews', 'conversions', 'revenue_cents'] as const).map((name) => change(name, one, other))
  expect(changes(now)).toEqual([20, 0, 100, -50])
  expect(changes({ ...now, conversions: 29 })).toEqual([20, 0, undefined, undefined])
  expect(changes(now, { ...before, conversions: 29 })).toEqual([20, 0, undefined, undefined])
  expect(changes({ ...now, conversions: 0 }, { ...before, conversions: 0 })).toEqual([20, 0, undefined, -50])
  expect(changes(now, { ...before, visitors: 29 })).toEqual([undefined, undefined, 100, -50])
  expect(changes(now, { ...before, pageviews: 0 })).toEqual([20, undefined, 100, -50])
})

test('marks of axes are short, in the zone of the workspace', () => {
  expect(briefMoney(123_456_700, 'USD').length).toBeLessThan(9)
  expect(briefMoney(1_234, 'USD')).toContain('12.34')
  const midnight = Date.UTC(2026, 2, 1, 23)
  expect(timeMarks([midnight], 3_600, 'Europe/Berlin')).toEqual(['Mar 2'])
  expect(timeMarks([midnight], 3_600, 'UTC')).toEqual(['11:00 PM'])
  expect(timeMarks([midnight], 31 * 86_400, 'UTC')).toEqual(['Mar 2026'])
  // The hour that comes twice, and a day that begins at 1:00, whose mark stands at 23:00 before it.
  const night = ['2026-10-25T00:00Z', '2026-10-25T01:00Z', '2026-10-25T02:00Z'].map(Date.parse)
  expect(timeMarks(night, 3_600, 'Europe/Berlin')).toEqual(['2:00 AM', 'GMT+1', '3:00 AM'])
  const days = ['2026-09-05T04:00Z', '2026-09-06T03:00Z', '2026-09-07T03:00Z'].map(Date.parse)
  expect(timeMarks(days, 86_400, 'America/Santiago')).toEqual(['Sep 5', 'Sep 6', 'Sep 7'])
  // Clocks are set back from 3 to 2.
  const hours = ['01', '02', '02', '03'].map((hour, at) => ({
    label: `2026-10-25 ${hour}:00`,
    start: new Date(Date.UTC(2026, 9, 24, 23 + at)).toISOString(),
  }))
  const names = hours.map((_, at) => bucketName(hours, at, 'Europe/Berlin').slice(11))
  expect(names).toEqual(['01:00', '02:00 GMT+2', '02:00 GMT+1', '03:00'])
})

test('a click map is of one page of its address, and of no filters beside it', () => {
  const view = readView('?days=7&path=%2Fa&device=mobile&source=x')
  const mapped = readMapped('?days=7&path=%2Fa&device=mobile')
  expect(writeMapped(view, mapped)).toBe('/dashboard/click-map?days=7&path=%2Fa&device=mobile')
  expect(mapQuestionOf(view, mapped)).toBe('/analytics/click-map?days=7&path=%2Fa&device=mobile')
  expect(readMapped('?device=watch')).toEqual({ path: '', device: 'desktop' })
  expect(mapQuestionOf(view, { ...mapped, path: '' })).toBeUndefined()
  // A filter of several pages is none's.
  expect(['/a', '/a*', '/a\\*', '/a\\\\*'].map(exactPathOf)).toEqual(['/a', undefined, '/a*', undefined])
})
