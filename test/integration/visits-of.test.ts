/** What a link and a post led to: visitors, sessions and credited conversions of their workspace, as far back as it reads. */
import { expect, test } from 'vitest'
import { makeWorkspace, setUpApi, type TestWorkspace } from '../support/api.ts'
import { type EventLike, insertEventRows, makeEventRow } from '../support/event-rows.ts'
import { foldWhatIsThere } from '../support/fold.ts'

const { stores, api, mine } = setUpApi()
const [hour, day] = [3_600_000, 86_400_000]
const now = Date.now() - hour

async function make(path: string, body: object): Promise<number> {
  const headers = { 'Content-Type': 'application/json' }
  const response = await api.ask(path, { method: 'POST', key: mine.apiKey, headers, body: JSON.stringify(body) })
  return ((await response.json()) as { id: number }).id
}

async function read<Answer>(path: string): Promise<Answer> {
  return (await (await api.ask(path, { key: mine.apiKey })).json()) as Answer
}

async function add(events: readonly EventLike[], { workspaceId }: Pick<TestWorkspace, 'workspaceId'>): Promise<void> {
  await insertEventRows(
    stores.ch,
    events.map((event) => makeEventRow({ workspace_id: workspaceId, ...event })),
  )
  await foldWhatIsThere(stores)
}

test('they are those who came by it, and the conversions credited to a touch of it', async () => {
  const post_id = await make('/v1/posts', { title: 'Sale', base_caption: 'Sale' })
  const link_id = await make('/v1/links', { label: 'Sale', destination_url: 'https://example.com/', post_id })
  const came = { source: 'svc', medium: 'social', link_id, post_id }
  await add(
    [
      { visitor: 1, ...came, occurred_at: now - 3 * day },
      { visitor: 1, kind: 'conversion', occurred_at: now - 2 * day },
      // Came by the post alone, and by something else before converting.
      { visitor: 2, ...came, link_id: 0, occurred_at: now - 3 * day },
      { visitor: 2, session: 7, source: 'news', medium: 'email', occurred_at: now - 2 * day },
      { visitor: 2, session: 7, kind: 'conversion', occurred_at: now - day },
      { visitor: 3, ...came, occurred_at: now - day },
      { visitor: 3, session: 8, ...came, occurred_at: now - hour },
      { visitor: 4, kind: 'conversion', occurred_at: now },
      // Before what the plan reads.
      { visitor: 5, ...came, occurred_at: now - 200 * day },
    ],
    mine,
  )
  const other = await makeWorkspace(stores)
  await add([{ visitor: 6, ...came, occurred_at: now }], other)
  await stores.ch.command(
    `INSERT INTO link_clicks (workspace_id, link_id, post_id, kind, visitor, occurred_at)
     SELECT ${mine.workspaceId}, ${link_id}, ${post_id}, 'click', 1, fromUnixTimestamp64Milli(${now})`,
  )
  const { visits } = await read<{ visits: unknown }>(`/v1/links/${link_id}`)
  expect(visits).toEqual({ visitors: 2, sessions: 3, conversions: 1 })
  const { performance } = await read<{ performance: unknown }>(`/v1/posts/${post_id}`)
  expect(performance).toEqual({
    ...{ clicks: 1, visitors: 3, sessions: 4, conversions: 1 },
    ...{ payments: 0, revenue_cents: 0, revenue_by_currency: {} },
  })
})
