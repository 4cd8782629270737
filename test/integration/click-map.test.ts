/** GET /v1/analytics/click-map: which recordings it is of, whose, and how many. */
import { beforeAll, expect, test } from 'vitest'
import { readPageLoads } from '../../clickhouse/queries/page-loads.ts'
import { changeWorkspace } from '../../postgres/tables/workspaces/workspaces.ts'
import { MiB } from '../../schemas/limits/units.ts'
import type { ClickMap } from '../../schemas/resources/click-map.ts'
import { makeKey, makeWorkspace, setUpApi, type TestWorkspace } from '../support/api.ts'
import {
  recordedBegin as begin,
  recordedClick as click,
  recordedElement as element,
  recordedPage as page,
  recordedText as text,
} from '../support/recorded-pages.ts'
import { insertChunks, pack } from '../support/replays.ts'

const { stores, api } = setUpApi({ sharesWorkspace: true })
const minute = 60_000
const now = Date.now()
const body = page(element(5, 'button', { id: 'buy' }, text(6, '*** **')))

/** @param x of the click, in pixels of a window 1,000 wide */
const recorded = (x: number, width = 1_200) => pack([...begin(now, body, width), click(now + 500, 6, x, 90)])

async function mapOf(workspace: TestWorkspace, query: string): Promise<ClickMap> {
  const response = await api.ask(`/v1/analytics/click-map?${query}`, { key: workspace.apiKey })
  expect(response.status).toBe(200)
  return (await response.json()) as ClickMap
}

let mine: TestWorkspace
beforeAll(async () => {
  mine = await makeWorkspace(stores)
  const others = await makeWorkspace(stores)
  const { workspaceId: workspace_id } = mine
  const chunk = { workspace_id, path: '/pricing', json_bytes: 500 }
  const twice = { ...chunk, session: 12, visitor: '2', at: now - 20 * minute, page_id: 'p', sequence: 0 }
  await insertChunks(stores.ch, [
    { ...chunk, session: 11, visitor: '1', at: now - 30 * minute, events: recorded(120) },
    { ...twice, events: recorded(0) },
    // Sent twice: the repeat counts, and its click alone.
    { ...twice, events: recorded(600) },
    { ...chunk, session: 13, visitor: '2', at: now - 10 * minute, events: recorded(195, 390) },
    { ...chunk, session: 14, path: '/other', at: now - 10 * minute, events: recorded(1) },
    { ...chunk, session: 15, at: now - 3 * 24 * 60 * minute, events: recorded(1) },
    { ...chunk, workspace_id: others.workspaceId, session: 11, at: now - minute, events: recorded(1) },
    // Ingest takes no such list; rows of it are as harmless as any.
    { ...chunk, session: 16, at: now - 5 * minute, events: pack([null, { type: 2, timestamp: 'x', data: 7 }]) },
  ])
})

test('a map is of one page, viewport and range, and of nobody else’s recordings', async () => {
  const map = await mapOf(mine, 'path=/pricing&hours=2')
  expect(map).toMatchObject({
    path: '/pricing',
    device: 'desktop',
    page_views: 2,
    viewports: { desktop: 2, tablet: 0, mobile: 1 },
    has_more: false,
    cut_page_views: 0,
    visitors: 2,
    clicks: 2,
    cut_clicks: 0,
    dead_clicks: 0,
    rage_clicks: 0,
    scroll: { height: 800 },
    page: { replay_id: 12, width: 1_200, height: 800, recorded_at: new Date(now - 20 * minute).toISOString() },
  })
  expect(map.elements).toEqual([
    {
      selector: 'button#buy',
      text: '*** **',
      clicks: 2,
      visitors: 2,
      share: 100,
      dead_clicks: 0,
      rage_clicks: 0,
    },
  ])
  expect(map.points).toEqual([
    { x: 0.5, y: 90, element: 0 },
    { x: 0.1, y: 90, element: 0 },
  ])
  // The page that is drawn is the first of the chunks behind the one before it.
  const { replay_id, chunk_id } = map.page!
  const read = await api.ask(`/v1/replays/${replay_id}?after_id=${chunk_id - 1}&limit=1`, { key: mine.apiKey })
  expect(await read.json()).toMatchObject({ chunks: [{ id: chunk_id }] })

  expect(await mapOf(mine, 'path=/pricing&device=mobile')).toMatchObject({
    page_views: 1,
    points: [{ x: 0.5, y: 90, element: 0 }],
  })
  expect(await mapOf(mine, 'path=/pricing&days=7')).toMatchObject({ page_views: 3 })
  expect(await mapOf(mine, 'path=/nowhere')).toMatchObject({
    page_views: 0,
    elements: [],
    scroll: { bands: [] },
    page: null,
  })
  for (const query of ['', 'path=', 'path=/&device=watch', 'path=/&days=0']) {
    expect([query, (await api.ask(`/v1/analytics/click-map?${query}`, { key: mine.apiKey })).status]).toEqual([
      query,
      422,
    ])
  }
})

test('recordings from before the readable time are left out at once', async () => {
  await changeWorkspace(stores.pg, mine.workspaceId, { retentionDays: 2 })
  // The other key's workspace is cached for two seconds.
  const again = { ...mine, apiKey: (await makeKey(stores, mine.workspaceId)).apiKey }
  expect(await mapOf(again, 'path=/pricing&days=7')).toMatchObject({ page_views: 2 })
})

test('the newest recordings are read up to a bound of bytes, and the answer says that there are more', async () => {
  const workspace = await makeWorkspace(stores)
  const chunk = { workspace_id: workspace.workspaceId, path: '/', json_bytes: 7 * MiB, events: recorded(1) }
  await insertChunks(
    stores.ch,
    [1, 2, 3, 4, 5].map((session) => ({
      ...chunk,
      session,
      visitor: String(session),
      at: now - session * minute,
      sequence: 0,
    })),
  )
  // The second chunk of the newest exceeds the bytes of one page view.
  await insertChunks(stores.ch, [{ ...chunk, session: 1, at: now - minute, sequence: 1 }])
  const map = await mapOf(workspace, 'path=/')
  expect(map).toMatchObject({ page_views: 4, cut_page_views: 1, has_more: true, clicks: 4, page: { replay_id: 1 } })
  // A sender can pack little JSON into many bytes, and they are read as well.
  const padded = { ...chunk, path: '/padded', json_bytes: 4, bytes: 7 * MiB }
  await insertChunks(
    stores.ch,
    [11, 12, 13, 14, 15].map((session) => ({ ...padded, session, visitor: '1', at: now - session * minute })),
  )
  expect(await mapOf(workspace, 'path=/padded')).toMatchObject({ page_views: 4, has_more: true })

  // Chunks take time however small they are, so that each counts as so much at least.
  const asked = { workspaceId: workspace.workspaceId, start: now - 60 * minute, end: now, path: '/tiny' }
  const tiny = { ...padded, path: '/tiny', bytes: 1, at: now - 20 * minute }
  await insertChunks(
    stores.ch,
    [0, 1, 2, 3, 4].map((at) => ({ ...tiny, session: 20 + at, page_id: String(at) })),
  )
  const bounds = { limit: 10, chunksMax: 10, chunkBytesMin: 100, bytesMax: 200 }
  const loads = await readPageLoads(stores.ch, { ...asked, ...bounds })
  expect(loads.map(({ chunks }) => chunks.map(({ bytes }) => bytes))).toEqual([[100], [100], [100]])
})
