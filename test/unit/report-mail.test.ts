import { expect, test } from 'vitest'
import { describeReport } from '../../pipeline/reports/describe-report.ts'
import { composeMail } from '../../pipeline/reports/mail-layout.ts'
import { plain } from '../../pipeline/reports/message.ts'
import type { Report } from '../../pipeline/reports/read-report.ts'
import { reportNameLengthMax } from '../../schemas/limits/report-limits.ts'

const counters = { visitors: 1_234, pageviews: 5_000, sessions: 1_500, bounce_rate: 41.25, conversions: 0 }
const range = { start: '2026-10-01T00:00:00Z', timezone: 'Europe/Berlin' }
const money = { revenue_cents: 0, revenue_by_currency: {} }
const metrics = { ...counters, average_session_seconds: 83.4, ...money, range, readable_from: range.start }
const before = { ...metrics, visitors: 1_000, bounce_rate: 55, revenue_cents: 0 }

function write(changes: Partial<Record<keyof Report, unknown>> = {}) {
  const report = {
    every: 'monthly',
    first: '2026-10-01',
    last: '2026-10-31',
    workspace: { id: 7, name: 'Acme', currency: 'JPY' },
    metrics: { ...metrics, previous: before },
    top_pages: [],
    top_sources: [],
    ...changes,
  } as unknown as Report
  return composeMail({
    ...describeReport(report, 'https://a.example'),
    unsubscribeUrl: 'https://a.example/unsubscribe/x',
  })
}

test('a monthly report names its month, and has figures and changes as the dashboard writes them', () => {
  const { subject, text, html } = write()
  expect(subject).toBe('Acme: October 2026')
  for (const line of [
    'Visitors: 1,234 (▲ 23 %)',
    'Sessions: 1,500 (= 0 %)',
    'Bounce rate: 41.3 % (▼ 25 %)',
    'Session length: 1m 23s',
  ]) {
    expect(text).toContain(`  ${line}`)
  }
  expect(html).toContain('▲ 23 %')
  expect(text).not.toContain('Revenue')
})

test('revenue stands where there is some, now or before, in its currency', () => {
  expect(write({ metrics: { ...metrics, revenue_cents: 120_000, previous: null } }).text).toContain(
    'Revenue: ¥120,000\n',
  )
  const earned = { ...before, conversions: 40, revenue_cents: 5 }
  const textWith = (conversions: number) => write({ metrics: { ...metrics, conversions, previous: earned } }).text
  expect(textWith(30)).toContain('Conversions: 30 (▼ 25 %)\n  Revenue: ¥0 (▼ 100 %)\n')
  expect(textWith(29)).toContain('Conversions: 29\n  Revenue: ¥0\n')
  const apart = { EUR: 1_250, KWD: -1_500 }
  expect(write({ metrics: { ...metrics, revenue_by_currency: apart, previous: null } }).text).toContain(
    '  Revenue without an exchange rate: €12.50, -KWD 1.500\n',
  )
})

test('few visitors have no changes, and a long name is cut', () => {
  const few = { ...metrics, visitors: 29, previous: before }
  const page = { path: `/${'ä'.repeat(500)}`, title: '', pageviews: 1 }
  const { text } = write({ metrics: few, top_pages: [page] })
  expect(text).toContain('Visitors: 29\n')
  expect(/\/ä+…/.exec(text)![0]).toHaveLength(reportNameLengthMax)
})

test('a source without visitors, which is known by its revenue alone, is left out', () => {
  const top_sources = [{ source: 'direct', medium: 'none', visitors: 0 }]
  expect(write({ top_sources }).text).toContain('Sources, by visitors\n  none\n')
})

test('figures that begin later than the period say so', () => {
  const { text, html } = write({ metrics: { ...metrics, previous: null, readable_from: '2026-10-02T22:00:00Z' } })
  const said = 'No figures are kept from before Oct 3, 2026'
  expect([text.includes(said), html.includes(said), write().text.includes('No figures')]).toEqual([true, true, false])
})

test('names keep what joins letters and emoji, and lose marks that are not seen without a gap', () => {
  const joined = ['می\u200Cخواهم', 'ශ්\u200Dරී', '👩\u200D👩\u200D👧', '🏳️\u200D🌈']
  expect(joined.map(plain)).toEqual(joined)
  const unseen = ['\u200Fשלום\u200F!', 'a\u200Bb', 'a\u202Eb', 'a\u200D \u200C', '\r\na\r\n\0b']
  expect(unseen.map(plain)).toEqual(['שלום!', 'ab', 'a b', 'a', 'a b'])
})
