/** GET /v1/analytics/breakdown: sessions that began in a range, by what each came with. */
import { expect, test } from 'vitest'
import { type Breakdown, breakdownNames } from '../../schemas/resources/breakdown.ts'
import { setUpApi } from '../support/api.ts'
import { type EventLike, insertEventRows, makeEventRow } from '../support/event-rows.ts'
import { foldWhatIsThere } from '../support/fold.ts'

const { stores, api, mine } = setUpApi()
const hour = 3_600_000
const now = Date.now() - hour

async function add(...events: readonly EventLike[]): Promise<void> {
  const rows = events.map((event) => makeEventRow({ workspace_id: mine.workspaceId, occurred_at: now, ...event }))
  await insertEventRows(stores.ch, rows)
  await foldWhatIsThere(stores)
}

async function ask(query: string): Promise<Breakdown> {
  const response = await api.ask(`/v1/analytics/breakdown?${query}`, { key: mine.apiKey })
  const body = (await response.json()) as Breakdown
  expect([response.status, body]).toEqual([200, body])
  return body
}
const counts = ({ rows }: Breakdown) => rows.map(({ key, visitors, sessions }) => [key, visitors, sessions])

const visits: EventLike[] = [
  { visitor: 1, session: 1, source: 'google', medium: 'organic', campaign: '', path: '/a', os: 'Linux', country: 'DE' },
  { visitor: 1, session: 1, source: 'news', medium: 'email', campaign: 'may', path: '/b', occurred_at: now + 60_000 },
  { visitor: 2, session: 1, source: 'google', medium: 'cpc', campaign: 'may', path: '/b', os: 'Linux', country: 'FR' },
  { visitor: 2, session: 2, source: 'bing', medium: 'organic', campaign: 'may', path: '/b', os: 'iOS', country: 'FR' },
  { visitor: 3, session: 1, path: '/a', occurred_at: now - 30 * hour },
  { visitor: 0, kind: 'conversion', source: 'server' },
]

test('counts each session once, by its own entry, and visitors once in a row', async () => {
  await add(...visits)
  expect(counts(await ask('by=campaign&hours=4'))).toEqual([
    ['may', 1, 2],
    ['', 1, 1],
  ])
  expect(counts(await ask('by=entry_path&hours=4'))).toEqual([
    ['/b', 1, 2],
    ['/a', 1, 1],
  ])
  expect(counts(await ask('by=channel&hours=4'))).toEqual([
    ['Organic Search', 2, 2],
    ['Paid Search', 1, 1],
  ])
  expect(counts(await ask('by=entry_path&days=3&limit=1'))).toEqual([['/a', 2, 2]])
  const { rows } = await ask('by=country&hours=4')
  expect(rows.find(({ key }) => key === 'DE')).toEqual({
    ...{ key: 'DE', label: 'Germany', visitors: 1, sessions: 1, bounce_rate: 0, average_session_seconds: 60 },
  })
  expect(rows.find(({ key }) => key === 'FR')).toMatchObject({ bounce_rate: 100, average_session_seconds: 0 })
})

test('by whatever property, a row’s filter chooses the sessions that it counts', async () => {
  await add(...visits)
  for (const by of breakdownNames) {
    for (const { key, sessions } of (await ask(`by=${by}&hours=4`)).rows) {
      if (key === '') continue
      const chosen = await ask(`by=${by}&hours=4&${new URLSearchParams({ [by]: key })}`)
      expect([by, key, counts(chosen).map(([name, , n]) => [name, n])]).toEqual([by, key, [[key, sessions]]])
    }
  }
  expect(counts(await ask('by=os&hours=4&path=/a'))).toEqual([['Linux', 1, 1]])
})

test('says what is missing or unknown', async () => {
  for (const query of ['by=weather', 'by=os&limit=1001', 'by=os&channel=Nothing']) {
    expect((await api.ask(`/v1/analytics/breakdown?${query}`, { key: mine.apiKey })).status).toBe(422)
  }
})
