/** Choices of the overview's members and sessions, in REST and MCP; impossible ones are refused. */
import { expect, test } from 'vitest'
import { hostOf } from '../../ingest/enrich/page-url.ts'
import { systemClock } from '../../runtime/clock.ts'
import { overviewMembers } from '../../schemas/resources/overview.ts'
import { setUpApi, startApi, type TestApi } from '../support/api.ts'
import { insertEventRows, makeEventRow } from '../support/event-rows.ts'
import { foldWhatIsThere } from '../support/fold.ts'
import { callTool } from '../support/mcp.ts'

const { stores, api, mine } = setUpApi({ hasYearlyParts: true })

async function ask<Body = Record<string, unknown>>(query: string): Promise<{ status: number; body: Body }> {
  const response = await api.ask(`/v1/analytics/overview?${query}`, { key: mine.apiKey })
  return { status: response.status, body: (await response.json()) as Body }
}
const isEmpty = (value: unknown) =>
  Object.values(value as object).every((one) => one === '' || one === mine.workspaceId)
const filled = (body: Record<string, unknown>) => Object.keys(body).filter((member) => !isEmpty(body[member]))

test('include names the members that are wanted; the others are there and empty', async () => {
  const whole = (await ask('hours=1')).body
  expect(Object.keys(whole)).toEqual(expect.arrayContaining(overviewMembers))
  for (const member of overviewMembers) {
    const { status, body } = await ask(`hours=1&include=${member}`)
    expect(status).toBe(200)
    expect(Object.keys(body).sort()).toEqual(Object.keys(whole).sort())
    expect(filled(body)).toEqual(isEmpty(whole[member]) ? [] : [member])
    if (member !== 'metrics') expect(Object.keys(body[member] as object)).toEqual(Object.keys(whole[member] as object))
  }
  expect(filled((await ask('hours=1&include=metrics,%20snippet')).body)).toEqual(['metrics', 'snippet'])
  expect((await ask(`hours=1&include=${overviewMembers.join(',')}`)).body).toMatchObject({ snippet: whole['snippet'] })
})

test('what is left out takes no statement, and what is there is as in the whole answer', async () => {
  const now = Date.now() - 60_000
  const of = { workspace_id: mine.workspaceId, visitor: 1, occurred_at: now }
  await insertEventRows(stores.ch, [
    makeEventRow({ ...of, path: '/a', title: 'A' }),
    makeEventRow({ ...of, path: '/a', kind: 'web_vital', metric: 'LCP', metric_value: 9_000 }),
    makeEventRow({ ...of, kind: 'conversion', occurred_at: now - 86_400_000 }),
  ])
  await foldWhatIsThere(stores)
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
      const path = `/v1/analytics/overview?days=1&limit=${limit++}&include=${include}`
      const response = await counting.ask(path, { key: mine.apiKey })
      expect(response.status).toBe(200)
      return { answer: (await response.json()) as Record<string, unknown>, took: statements }
    }
    const whole = await read(overviewMembers.join(','))
    const took: Record<string, number> = {}
    for (const member of overviewMembers) {
      const alone = await read(member)
      took[member] = alone.took
      expect(alone.answer[member]).toEqual(whole.answer[member])
    }
    // Those of series, sources and pages are shared; advice reads them all.
    expect([whole.took, took['recommendations'], took['snippet'], took['traffic_series']]).toEqual([4, 4, 0, 1])
    for (const statements of Object.values(took)) expect(statements).toBeLessThanOrEqual(whole.took)
    expect((await read('top_sources,recent_events')).took).toBe(2)
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
  for (const include of [[], ['metrics', 'nothing'], 5]) {
    const { result } = await callTool(api, mine.apiKey, 'svc.analytics_overview', { include })
    expect(result?.isError).toBe(true)
    expect(JSON.parse(result!.content[0]!.text).detail[0].loc.slice(0, 2)).toEqual(['query', 'include'])
  }
})

interface Figures {
  readonly metrics: Record<string, unknown>
  readonly recommendations: readonly unknown[]
  readonly top_pages: readonly { readonly path: string }[]
}
const askFigures = (query: string) => ask<Figures>(`hours=24&${query}`)

async function visit(): Promise<void> {
  const events = [
    { visitor: 1, source: 'google', path: '/a' },
    { visitor: 2, source: 'bing', path: '/jobs/1' },
    { visitor: 2, source: 'bing', path: '/b' },
    { visitor: 3, source: 'news', path: '/a' },
  ]
  const at = { workspace_id: mine.workspaceId, occurred_at: Date.now() - 60_000 }
  await insertEventRows(
    stores.ch,
    events.map((event) => makeEventRow({ ...at, ...event })),
  )
  await foldWhatIsThere(stores)
}

test('advice on a fall waits for figures up to now, and a quiet hour gives none', async () => {
  const at = (days: number) => Date.now() - days * 86_400_000
  const ofLastWeek = Array.from({ length: 10 }, (_, n) => ({ visitor: n + 1, occurred_at: at(10) }))
  const ofServer = { visitor: 0, kind: 'conversion' as const, occurred_at: at(0) - 60_000 }
  const rows = [...ofLastWeek, ofServer].map((event) => makeEventRow({ workspace_id: mine.workspaceId, ...event }))
  await insertEventRows(stores.ch, rows)
  await foldWhatIsThere(stores)
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

test('advice is the same with any limit, and each list has as many rows as it says', async () => {
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
  const at = { workspace_id: mine.workspaceId, occurred_at: Date.now() - 60_000 }
  await insertEventRows(
    stores.ch,
    events.map((event) => makeEventRow({ ...at, ...event })),
  )
  await foldWhatIsThere(stores)
  const read = async (limit: number) => (await ask<Record<string, unknown[]>>(`hours=24&limit=${limit}`)).body
  const whole = await read(100)
  expect(whole['recommendations']).toMatchObject([
    { title: 'Speed up /' },
    { title: 'Speed up /b' },
    { title: 'Visitors leave from /b' },
    { title: 'Visitors on mobile hardly convert' },
    { title: 'Tag the links that you share' },
    { title: 'AI assistants send you visitors' },
  ])
  for (const limit of [1, 2]) {
    const some = await read(limit)
    expect(some['recommendations']).toEqual(whole['recommendations'])
    for (const list of ['top_sources', 'top_pages', 'devices', 'browsers', 'countries', 'web_vital_pages']) {
      expect(whole[list]).toHaveLength(2)
      expect(some[list]).toEqual(whole[list]!.slice(0, limit))
    }
  }
})

test('a repeated filter is or, another one is and, and what is of no session is null', async () => {
  await visit()
  const visitors = async (query: string) => (await askFigures(query)).body.metrics['visitors']
  expect(await visitors('source=google&source=bing')).toBe(2)
  expect(await visitors('source=google&source=bing&path=!/jobs*')).toBe(1)
  expect(await visitors('source=!google&source=!bing')).toBe(1)
  const { body } = await askFigures('path=/b')
  expect(body.top_pages.map(({ path }) => path)).toEqual(['/b'])
  expect(body.metrics).toMatchObject({ visitors: 1, pageviews: 1, sessions: 1 })
  expect(body.metrics).toMatchObject({ bot_visits: null, link_clicks: null, new_contacts: null, ad_spend_cents: null })
  expect(body.recommendations).toEqual([])
})

test('hostname chooses by the host that ingest reads: also without a dot, with a port, in any case', async () => {
  const urls = [
    'http://localhost:3000/x https://LOCALHOST?a=b/c http://intranet/a http://[::1]:3000/ http://[2001:DB8::1] http://[::1',
    'http://user:p@example.com/ https://a@b@Example.COM:443#x https://example.com./ https://example.com:x/ app+v1://shop/',
    'https://MÜNCHEN.example/ https://a_b.example/@c /a /at/https://example.com/ https:// https:///a http://[[a]/',
  ].flatMap((some) => some.split(' '))
  const at = { workspace_id: mine.workspaceId, occurred_at: Date.now() - 60_000 }
  await insertEventRows(
    stores.ch,
    urls.map((url, n) => makeEventRow({ ...at, visitor: n + 1, url })),
  )
  await foldWhatIsThere(stores)
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
