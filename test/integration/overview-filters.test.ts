/** Filters as a client sends them: repeated in a query, lists in MCP; refused where the value can't be. */
import { expect, test } from 'vitest'
import { setUpApi } from '../support/api.ts'
import { insertEventRows, makeEventRow } from '../support/event-rows.ts'
import { foldWhatIsThere } from '../support/fold.ts'

const { stores, api, mine } = setUpApi()

interface Answer {
  readonly metrics: Record<string, unknown>
  readonly recommendations: readonly unknown[]
  readonly top_pages: readonly { readonly path: string }[]
}

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

async function ask(query: string): Promise<{ status: number; body: Answer }> {
  const response = await api.ask(`/v1/analytics/overview?hours=24&${query}`, { key: mine.apiKey })
  return { status: response.status, body: (await response.json()) as Answer }
}

test('a repeated filter is or, another one is and, and what is of no session is null', async () => {
  await visit()
  const visitors = async (query: string) => (await ask(query)).body.metrics['visitors']
  expect(await visitors('source=google&source=bing')).toBe(2)
  expect(await visitors('source=google&source=bing&path=!/jobs*')).toBe(1)
  expect(await visitors('source=!google&source=!bing')).toBe(1)
  expect(await visitors('channel=Organic%20Search')).toBe(2)
  const { body } = await ask('path=/b')
  expect(body.top_pages.map(({ path }) => path)).toEqual(['/b'])
  expect(body.metrics).toMatchObject({ visitors: 1, pageviews: 1, sessions: 1 })
  expect(body.metrics).toMatchObject({ bot_visits: null, link_clicks: null, new_contacts: null, ad_spend_cents: null })
  expect(body.recommendations).toEqual([])
})

test('nothing is of times in which there can be nothing, however far away', async () => {
  await visit()
  const day = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)
  const ranges = ['0001-01-01', '1969-12-31', '2149-06-05', '9999-12-30'].map((named) => [named, named])
  // As many days from today as 16 bits count.
  ranges.push([day(2 ** 16 - 1), day(2 ** 16 + 1)])
  for (const [start, end] of ranges) {
    for (const filter of ['', '&source=google', '&device=mobile&path=/a', '&interval=day']) {
      const { status, body } = await ask(`start=${start}&end=${end}${filter}`)
      expect([start, filter, status, body]).toMatchObject([
        start,
        filter,
        200,
        { metrics: { visitors: 0, pageviews: 0 } },
      ])
    }
  }
})

test('a device or channel that is none is refused, and lists have bounds', async () => {
  for (const [query, place] of [
    ['device=phone', ['query', 'device', 0]],
    ['channel=Organic', ['query', 'channel', 0]],
    [`path=${'*a'.repeat(11)}`, ['query', 'path', 0]],
    [Array.from({ length: 21 }, () => 'path=a').join('&'), ['query', 'path']],
  ] as const) {
    const { status, body } = await ask(query)
    expect([query, status, body]).toMatchObject([query, 422, { detail: [{ loc: place }] }])
  }
  expect((await ask(`path=${'*a'.repeat(10)}\\*`)).status).toBe(200)
  // A wildcard may fit some.
  expect((await ask('device=*o*')).status).toBe(200)
})
