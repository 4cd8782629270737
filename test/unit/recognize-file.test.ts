/** The beginnings of files that people give to `svc events import`, and what the command takes each for. */
import { expect, test } from 'vitest'
import { recognize } from '../../cli/imports/recognize-file.ts'

const productOf = (text: string, name = 'a.csv') => recognize(Buffer.from(text), name)?.product
const descriptionOf = (text: string, name = 'a.csv') => recognize(Buffer.from(text), name)?.description

test.each([
  ['own', '{"event_name":"a","occurred_at":"2026-01-01T00:00:00Z","properties":{"event_params":1,"distinct_id":2}}'],
  ['ga4', '{"event_name":"page_view","event_timestamp":"1","event_params":[],"occurred_at":"x"}'],
  ['posthog', '{"event":"$pageview","distinct_id":"a","properties":"{}","timestamp":"x"}'],
  ['plausible', '{"name":"pageview","site_id":"1","hostname":"a.example","pathname":"/","user_id":"1"}'],
  ['matomo', `[{"idSite": 1, "idVisit": 771, "actionDetails": [${'{"type":"action"},'.repeat(9_000)}`],
  ['matomo', '{"idSite":1,\n"idVisit":"771"'],
  ['umami', '\uFEFF"website_id","session_id","visit_id","event_id","url_path","event_type","created_at"\r\n'],
])('a file of %s is known by its first line', (product, text) => {
  expect(productOf(text)).toBe(product)
})

test.each([
  ['Plausible', '"date","hostname","page","visits","visitors","pageviews"\n', 'imported_pages_20230209_20240123.csv'],
  ['Plausible', 'name,visitors,bounce_rate,visit_duration\nGoogle,20,50,30\n', 'sources.csv'],
  ['figures', 'Timestamp,Hostname,Pathname,Views,Uniques\n', 'pages.csv'],
  ['Google Analytics', '# -----------------\n# Pages\nPage path,Views\n', 'report.csv'],
  ['event_data', 'website_event_id,website_id,data_key,string_value\n', 'event_data.csv'],
  ['event_data', '"website_id","session_id","event_id","data_key","string_value","created_at"\n', 'event_data.csv'],
  ['ZIP', 'PK\x03\x04…', 'export.csv'],
  ['access log', '1.2.3.4 - - [10/Oct/2026:13:55:36 +0000] "GET / HTTP/1.1" 200 2326\n', 'a.log'],
])('a file without events is told: %s', (told, text, name) => {
  expect(productOf(text, name)).toBeUndefined()
  expect(descriptionOf(text, name)).toContain(told)
})

test.each(['', ' ', '{"event_name":', 'no json at all', '{"event_name":"a"}', '[]', '\u0000\u0001', 'a,b,c\n1,2,3'])(
  'a file that isn’t recognized is read as the command says: %j',
  (text) => {
    expect(recognize(Buffer.from(text), 'a.jsonl')).toBeUndefined()
  },
)
