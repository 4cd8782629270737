/** Breakdowns by what a session's first event has equal a computation over the raw events. `SEED=n` and `RUNS=n` as elsewhere. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { EventRow } from '../../schemas/event/row.ts'
import { type Breakdown, type EntryEventName, entryEventNames } from '../../schemas/resources/breakdown.ts'
import { filterFacts } from '../oracle/filters.ts'
import { sessionsByPage } from '../oracle/lists.ts'
import { allCounted, sessionsOf, startingIn } from '../oracle/sessions.ts'
import { type EventLike, insertEventRows, makeEventRow } from '../support/event-rows.ts'
import { foldWhatIsThere } from '../support/fold.ts'
import { drawCases, now, queryOf, runs, setUpSites, sites, someFilters, someRanges } from './step-cases.ts'

const { stores, mine, ask } = setUpSites()

const longPath = `/${'ä'.repeat(400)}`
const details = fc.record({
  url: fc.constantFrom('https://example.com/x', 'https://Shop.example.com:8443/?a', 'http://localhost:3000/', ''),
  referrer: fc.constantFrom(
    ...['', ''],
    ...'https://www.google.com/ https://google.com https://example.com/own about:blank'.split(' '),
    ...'https://News.example.net/a/b/?q=1#/c android-app://com.google.android.gm/'.split(' '),
    `https://a.test${longPath}?x`,
  ),
  content: fc.constantFrom('', 'footer', '<b>x</b>'),
  language: fc.constantFrom('', ...'de en-US en_us EN zh-Hans-CN zh-Hant es-419 ca-ES-valencia c4'.split(' ')),
  screen_width: fc.constantFrom(0, 1, 575, 576, 991, 992, 1439, 1440, 65_535),
})
const cases = fc.record({
  site: fc.tuple(sites, fc.array(details, { minLength: 80, maxLength: 80 })).map(([site, more]) => ({
    ...site,
    events: site.events.map((event, at): EventLike => ({ ...event, ...more[at] })),
  })),
  range: someRanges,
  names: fc.shuffledSubarray([...entryEventNames], { minLength: 2, maxLength: 2 }),
  filters: someFilters,
})

const languages: Readonly<Record<string, string>> = {
  '': 'unknown',
  c4: 'unknown',
  en_us: 'en-US',
  EN: 'en',
  'zh-Hans-CN': 'zh-CN',
  'zh-Hant': 'zh',
  'ca-ES-valencia': 'ca-ES',
}
const referrers: Readonly<Record<string, string>> = {
  'https://www.google.com/': 'google.com',
  'https://google.com': 'google.com',
  'about:blank': '',
  'https://example.com/own': 'example.com/own',
  'https://News.example.net/a/b/?q=1#/c': 'news.example.net/a/b',
  'android-app://com.google.android.gm/': 'com.google.android.gm',
  [`https://a.test${longPath}?x`]: `a.test${longPath}`.slice(0, 300),
}
const hostOf = (url: string) => (url === '' ? '' : new URL(url).hostname)
const keyOf: Readonly<Record<EntryEventName, (entry: EventRow) => string>> = {
  hostname: ({ url }) => hostOf(url),
  referrer: ({ referrer, source, url }) => {
    const isOwn = hostOf(url) === 'example.com' && referrer === 'https://example.com/own'
    return isOwn || source === '' || source === 'direct' ? '' : (referrers[referrer] ?? '')
  },
  content: ({ content }) => content,
  language: ({ language }) => languages[language] ?? language,
  screen: ({ screen_width: width }) => {
    if (width === 0) return 'unknown'
    if (width < 576) return '1-575'
    if (width < 992) return '576-991'
    return width < 1440 ? '992-1439' : '1440+'
  },
}

test('every row equals a computation over the raw events', async () => {
  let listed = 0
  for (const { placed, tell, range, filters, names } of await drawCases(stores, cases)) {
    const { rows, timezone, apiKey } = placed
    const filtered = Object.keys(filters).length > 0 ? filterFacts({ events: rows }, filters, timezone) : undefined
    const sessions = sessionsOf(filtered?.events ?? rows, timezone, filtered ?? allCounted)
    for (const by of names) {
      const question = `breakdown?${queryOf({ ...range, ...filters, by, limit: '1000' })}`
      const answer = await ask<Breakdown>(question, apiKey)
      const span = { start: Date.parse(answer.range.start), end: Date.parse(answer.range.end) }
      const expected = sessionsByPage(startingIn(sessions, span), ({ entry }) => keyOf[by](entry))
      const shown = answer.rows.map(({ label: _, ...row }) => row)
      expect(shown, tell(question)).toEqual(expected)
      listed += expected.length
    }
  }
  expect(listed).toBeGreaterThan(2 * runs)
})

test('rows have the names that people know, and a limit cuts them', async () => {
  const add = (visitor: number, more: EventLike) =>
    makeEventRow({ workspace_id: mine.workspaceId, visitor, occurred_at: now - 1000, ...more })
  await insertEventRows(stores.ch, [
    ...[1, 2].map((visitor) => add(visitor, { language: 'de-AT', screen_width: 390 })),
    add(3, { language: 'xx', screen_width: 1920 }),
    add(4, {}),
  ])
  await foldWhatIsThere(stores)
  const labels = async (query: string) =>
    (await ask<Breakdown>(`breakdown?days=1&${query}`, mine.apiKey)).rows.map(({ label }) => label)
  expect(await labels('by=language')).toEqual(['German (Austria)', 'Unknown', 'xx'])
  expect(await labels('by=screen&limit=2')).toEqual(['Under 576 px', '1440 px and more'])
})
