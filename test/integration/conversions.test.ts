/** GET /v1/analytics/conversions: why each conversion is credited as the overview counts it. */
import { expect, test } from 'vitest'
import type { Conversions } from '../../schemas/resources/conversion.ts'
import { makeWorkspace, setUpApi, type TestWorkspace } from '../support/api.ts'
import { type EventLike, insertEventRows, makeEventRow } from '../support/event-rows.ts'
import { foldWhatIsThere } from '../support/fold.ts'

const { stores, api, mine } = setUpApi()
const day = 86_400_000
const now = Date.now() - 3_600_000

async function add(events: readonly EventLike[], { workspaceId }: TestWorkspace = mine): Promise<void> {
  const rows = events.map((event) => makeEventRow({ workspace_id: workspaceId, ...event }))
  await insertEventRows(stores.ch, rows)
  await foldWhatIsThere(stores)
}

async function ask(query = '', { apiKey }: Pick<TestWorkspace, 'apiKey'> = mine): Promise<Conversions> {
  const response = await api.ask(`/v1/analytics/conversions${query}`, { key: apiKey })
  const body = (await response.json()) as Conversions
  expect([response.status, body]).toEqual([200, body])
  return body
}

const said = ({ conversions }: Conversions) =>
  conversions.map(({ event, credit, touches }) => [
    event.path,
    `${credit.rule} ${credit.source}/${credit.medium} ${credit.channel}`,
    touches.map(({ source, is_credited }) => source + (is_credited ? '!' : '')).join(' '),
  ])

test('each says its rule, its touches of thirty days, and which of them is credited', async () => {
  const touch = (source: string, ago: number, more: EventLike = {}): EventLike => ({
    ...{ source, medium: 'email', campaign: 'c', occurred_at: now - ago },
    ...more,
  })
  const conversion = (path: string, ago: number, more: EventLike = {}): EventLike => ({
    ...{ kind: 'conversion', path, occurred_at: now - ago },
    ...more,
  })
  await add([
    touch('old', 32 * day),
    touch('first', 20 * day),
    touch('last', 2 * day),
    conversion('/by-last', day),
    conversion('/by-first', 10 * day),
    // Of others: one who came directly, one whose only touch is too old, and a server.
    conversion('/direct', 2_000, { visitor: 2 }),
    touch('stale', 31 * day, { visitor: 3 }),
    conversion('/stale', 3_000, { visitor: 3 }),
    conversion('/server', 1_000, { visitor: 0, source: 'partner', medium: 'referral' }),
  ])
  const all = await ask('?days=30')
  expect(said(all)).toEqual([
    ['/server', 'event partner/referral Referral', ''],
    ['/direct', 'session direct/none Direct', ''],
    ['/stale', 'session direct/none Direct', ''],
    ['/by-last', 'touch last/email Email', 'last! first'],
    ['/by-first', 'touch first/email Email', 'first! old'],
  ])
  expect(all.conversions[3]!.credit.touched_at).toBe(new Date(now - 2 * day).toISOString())
  expect(all.conversions[3]!.touches[0]).toMatchObject({
    campaign: 'c',
    occurred_at: new Date(now - 2 * day).toISOString(),
  })
  expect(all.range).toMatchObject({ timezone: 'UTC', bucket: 'day' })

  const overview = await api.ask('/v1/analytics/overview?days=30', { key: mine.apiKey })
  const { metrics, top_sources } = (await overview.json()) as {
    metrics: { conversions: number }
    top_sources: { source: string; conversions: number }[]
  }
  expect(metrics.conversions).toBe(all.conversions.length)
  for (const { source, conversions } of top_sources) {
    expect([source, conversions]).toEqual([
      source,
      all.conversions.filter(({ credit }) => credit.source === source).length,
    ])
  }
})

test('a range and a limit cut it, and nobody else sees it', async () => {
  await add([1, 2, 3].map((days) => ({ kind: 'conversion' as const, path: `/${days}`, occurred_at: now - days * day })))
  expect(said(await ask('?days=30&limit=2')).map(([path]) => path)).toEqual(['/1', '/2'])
  const end = new Date(now - 2 * day).toISOString()
  expect(said(await ask(`?days=30&end=${end}`)).map(([path]) => path)).toEqual(['/3'])
  expect(await ask('?days=30', await makeWorkspace(stores))).toMatchObject({ conversions: [] })
  const refused = await api.ask('/v1/analytics/conversions?limit=201', { key: mine.apiKey })
  expect(refused.status).toBe(422)
})
