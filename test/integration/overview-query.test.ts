/** Choices of the overview's members and sessions, in REST and MCP; impossible ones are refused. */
import { expect, test } from 'vitest'
import { deleteWhere } from '../../clickhouse/delete-where.ts'
import { hostOf } from '../../ingest/enrich/page-url.ts'
import { systemClock } from '../../runtime/clock.ts'
import { type AnalyticsOverview, overviewMembers } from '../../schemas/resources/overview.ts'
import { setUpApi, startApi, type TestApi } from '../support/api.ts'
import type { EventLike } from '../support/event-rows.ts'
import { addEvents } from '../support/fold.ts'
import { callTool } from '../support/mcp.ts'

const { stores, api, mine } = setUpApi({ hasYearlyParts: true })

async function ask<Body = Record<string, unknown>>(query: string): Promise<{ status: number; body: Body }> {
  const response = await api.ask(`/v1/analytics/overview?${query}`, { key: mine.apiKey })
  return { status: response.status, body: (await response.json()) as Body }
}
/** A minute ago, where they don't say when. */
function add(...events: EventLike[]): Promise<void> {
  const timed = events.map((event): EventLike => ({ occurred_at: Date.now() - 60_000, ...event }))
  return addEvents(stores, mine.workspaceId, timed)
}
const isEmpty = (value: unknown) =>
  Object.values(value as object).every((one) => one === '' || one === mine.workspaceId)
const filled = (body: Record<string, unknown>) => Object.keys(body).filter((member) => !isEmpty(body[member]))

test('include names the members that are wanted, which are as in the whole answer; the others are empty and take no statement', async () => {
  const now = Date.now() - 60_000
  await add(
    { occurred_at: now, path: '/a', title: 'A' },
    { occurred_at: now, path: '/a', kind: 'web_vital', metric: 'LCP', metric_value: 9_000 },
    { occurred_at: now - 86_400_000, kind: 'conversion', visitor: 2 },
  )
  let statements = 0
  let limit = 10
  const counting = await startApi(stores, {
    ch: {
      ...stores.ch,
      query: (...args) => {
        statements++
        return stores.ch.query(...args) as never
      },
    },
    clock: { ...systemClock, now: () => now + 1_000 },
  })
  try {
    const read = async (include: string) => {
      statements = 0
      // Equal questions share an answer.
      const path = `/v1/analytics/overview?days=1&limit=${limit++}${include}`
      const response = await counting.ask(path, { key: mine.apiKey })
      expect(response.status).toBe(200)
      return { answer: (await response.json()) as Record<string, unknown>, took: statements }
    }
    const whole = await read('')
    expect(Object.keys(whole.answer)).toEqual(overviewMembers)
    const took: Record<string, number> = {}
    for (const member of overviewMembers) {
      const alone = await read(`&include=${member}`)
      took[member] = alone.took
      expect(alone.answer[member]).toEqual(whole.answer[member])
      expect(filled(alone.answer)).toEqual(filled(whole.answer).filter((one) => one === member))
      expect(Object.keys(alone.answer)).toEqual(overviewMembers)
    }
    // Those of series, sources and pages are shared; advice reads them all.
    expect([whole.took, took['recommendations'], took['snippet'], took['traffic_series']]).toEqual([4, 4, 0, 1])
    for (const statements of Object.values(took)) expect(statements).toBeLessThanOrEqual(whole.took)
    const some = await read('&include=top_sources,%20recent_events')
    expect([filled(some.answer), some.took]).toEqual([['top_sources', 'recent_events'], 2])
  } finally {
    await counting.close()
  }
})

test('a name that is no member, or none at all, is 422', async () => {
  for (const [query, input] of [
    ['include=metrics,nothing', 'nothing'],
    ['include=', ''],
    ['include=__proto__', '__proto__'],
  ] as const) {
    const { status, body } = await ask(query)
    expect(status).toBe(422)
    expect(body).toMatchObject({ detail: [{ loc: ['query', 'include'], type: 'enum', input }] })
  }
})

test('a tool takes it as a list as well', async () => {
  for (const include of [['metrics', 'web_vitals'], 'metrics,web_vitals']) {
    const { result } = await callTool(api, mine.apiKey, 'svc.analytics_overview', { hours: 1, include })
    expect(filled(result!.structuredContent!)).toEqual(['metrics', 'web_vitals'])
  }
  for (const include of [[], 5]) {
    const { result } = await callTool(api, mine.apiKey, 'svc.analytics_overview', { include })
    expect([result?.isError, JSON.parse(result!.content[0]!.text).detail[0].loc]).toEqual([true, ['query', 'include']])
  }
})

interface Figures {
  readonly metrics: Record<string, unknown>
  readonly recommendations: readonly unknown[]
}
const askFigures = (query: string) => ask<Figures>(`hours=24&${query}`)

const visit = () => add({ visitor: 1, source: 'google', path: '/a' }, { visitor: 2, source: 'bing', path: '/b' })

test('advice on a fall waits for figures up to now, and a quiet hour gives none', async () => {
  const at = (days: number) => Date.now() - days * 86_400_000
  const ofLastWeek = Array.from({ length: 10 }, (_, n) => ({ visitor: n + 1, occurred_at: at(10) }))
  await add(...ofLastWeek, { visitor: 0, kind: 'conversion' })
  const titles = async (asked: TestApi, query: string) => {
    const response = await asked.ask(`/v1/analytics/overview?${query}`, { key: mine.apiKey })
    return ((await response.json()) as { recommendations: { title: string }[] }).recommendations.map(
      ({ title }) => title,
    )
  }
  expect(await titles(api, 'days=7')).toEqual(['Visitors fell by 100 %'])
  expect(await titles(api, 'hours=1')).toEqual([])
  expect(await titles(api, 'hours=168&compare=none')).toEqual(['The tracking snippet was not seen'])
  // As if the fold had stood still since.
  const later = await startApi(stores, { clock: { now: () => Date.now() + 6 * 60_000 } })
  expect(await titles(later, 'days=7').finally(() => later.close())).toEqual([])
})

test('advice is the same with any limit of the lists', async () => {
  const typed = { path: '/', source: 'direct', medium: 'none', country: 'DE' } as const
  const asked = {
    path: '/b',
    source: 'chatgpt',
    medium: 'ai',
    device: 'mobile',
    browser: 'Safari',
    country: 'AT',
  } as const
  const events = Array.from({ length: 100 }, (_, n) => {
    const came = { ...(n < 60 ? typed : asked), visitor: n + 1 }
    const sample = { ...came, kind: 'web_vital', metric: 'LCP', metric_value: 9_000 } as const
    return [came, sample, ...(n < 60 ? [{ ...came, kind: 'conversion' } as const] : [])]
  }).flat()
  await add(...events)
  const adviceOf = async (limit: number) => (await askFigures(`limit=${limit}`)).body.recommendations
  const whole = await adviceOf(100)
  expect(whole).toMatchObject([
    { title: 'Speed up /' },
    { title: 'Speed up /b' },
    { title: 'Visitors leave from /b' },
    { title: 'Visitors on mobile hardly convert' },
    { title: 'Tag the links that you share' },
    { title: 'AI assistants send you visitors' },
  ])
  for (const limit of [1, 2]) expect(await adviceOf(limit)).toEqual(whole)
})

// property/overview.test.ts holds which sessions filters choose.
test('where a filter chooses sessions, what is of no session is null, and there is no advice', async () => {
  await visit()
  const { body } = await askFigures('path=/b')
  expect(body.metrics).toMatchObject({ visitors: 1, pageviews: 1, sessions: 1 })
  expect(body.metrics).toMatchObject({ bot_visits: null, link_clicks: null, new_contacts: null, ad_spend_cents: null })
  expect(body.recommendations).toEqual([])
})

test('a page whose measurements are erased is no page with web vitals, also before its figures are computed anew', async () => {
  const measured = { kind: 'web_vital', metric: 'LCP', metric_value: 9_000 } as const
  await add({ path: '/a' }, { path: '/a', ...measured }, { path: '/b' }, { path: '/b', ...measured })
  const ofPage = { sql: "workspace_id = {workspace:UInt32} AND path = '/a'", params: { workspace: mine.workspaceId } }
  await deleteWhere(stores.ch, 'events', ofPage)
  for (const query of ['days=2', 'days=2&device=desktop', 'hours=3']) {
    const { status, body } = await ask<AnalyticsOverview>(query)
    expect([status, body.web_vital_pages?.map(({ path }) => path)]).toEqual([200, ['/b']])
  }
})

test('hostname chooses by the host that ingest reads: also without a dot, with a port, in any case', async () => {
  const urls = [
    'http://localhost:3000/x https://LOCALHOST?a=b/c http://intranet/a http://[::1]:3000/ http://[2001:DB8::1] http://[::1',
    'http://user:p@example.com/ https://a@b@Example.COM:443#x https://example.com./ https://example.com:x/ app+v1://shop/',
    'https://MÜNCHEN.example/ https://a_b.example/@c /a /at/https://example.com/ https:// https:///a http://[[a]/',
  ].flatMap((some) => some.split(' '))
  await add(...urls.map((url, n) => ({ visitor: n + 1, url })))
  const visitors = async (host: string) => {
    const query = `include=metrics&compare=none&hostname=${encodeURIComponent(host)}`
    return (await askFigures(query)).body.metrics['visitors']
  }
  for (const host of new Set(urls.map(hostOf))) {
    const those = urls.filter((url) => hostOf(url) === host).length
    expect([host, await visitors(host.toUpperCase())]).toEqual([host, those])
  }
  expect(await visitors('!localhost')).toBe(urls.length - 2)
})

test('nothing is of times in which there can be nothing, however far away', async () => {
  await visit()
  const day = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)
  const ranges = ['0001-01-01', '1969-12-31', '2149-06-05', '9999-12-30'].map((named) => [named, named])
  // As many days from today as 16 bits count.
  ranges.push([day(2 ** 16 - 1), day(2 ** 16 + 1)])
  for (const [start, end] of ranges) {
    for (const filter of ['', '&source=google', '&device=mobile&path=/a', '&interval=day']) {
      const { status, body } = await askFigures(`start=${start}&end=${end}${filter}`)
      expect([start, filter, status, body]).toMatchObject([
        start,
        filter,
        200,
        { metrics: { visitors: 0, pageviews: 0 } },
      ])
    }
  }
})

test('a device, channel or country that is none is refused, and lists have bounds', async () => {
  for (const [query, place] of [
    ['device=phone', ['query', 'device', 0]],
    ['channel=Organic', ['query', 'channel', 0]],
    ['country=Germany', ['query', 'country', 0]],
    [`path=${'*a'.repeat(11)}`, ['query', 'path', 0]],
    [Array.from({ length: 21 }, () => 'path=a').join('&'), ['query', 'path']],
  ] as const) {
    const { status, body } = await askFigures(query)
    expect([query, status, body]).toMatchObject([query, 422, { detail: [{ loc: place }] }])
  }
  expect((await askFigures(`path=${'*a'.repeat(10)}\\*`)).status).toBe(200)
  // A wildcard may fit some.
  expect((await askFigures('device=*o*')).status).toBe(200)
  expect((await askFigures('country=de&country=!unknown&country=G*')).status).toBe(200)
})
