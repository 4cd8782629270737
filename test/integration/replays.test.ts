/** GET /v1/replays and /v1/replays/{id}: what is shown, to whom, and for how long. */
import { beforeAll, expect, test } from 'vitest'
import { eraseReplays } from '../../pipeline/people/erase-replays.ts'
import { expireData } from '../../pipeline/retention/expire-data.ts'
import { listDoneErasures } from '../../postgres/tables/people/erasures.ts'
import { changeWorkspace } from '../../postgres/tables/workspaces/workspaces.ts'
import { replayPageBytesMax } from '../../schemas/limits/replay-limits.ts'
import type { Replay, ReplayPage } from '../../schemas/resources/replay.ts'
import { makeKey, makeWorkspace, setUpApi, type TestWorkspace } from '../support/api.ts'
import { jobContext } from '../support/job-context.ts'
import { bindAlternately } from '../support/people.ts'
import { incompressible, insertChunks, madeEvents, pack } from '../support/replays.ts'

const { stores, api } = setUpApi({ sharesWorkspace: true })
let mine: TestWorkspace
let others: TestWorkspace
const minute = 60_000
const now = Date.now()
const visitorOf = (name: string) => stores.hashes.visitorOf(mine.workspaceId, name)

beforeAll(async () => {
  mine = await makeWorkspace(stores)
  others = await makeWorkspace(stores)
  const { workspaceId: workspace_id } = mine
  const ann = { visitor: visitorOf('ann'), anonymous_id: 'ann', workspace_id }
  const ben = { visitor: visitorOf('ben'), anonymous_id: 'ben', workspace_id, browser: 'Firefox', country: '\0\0' }
  await insertChunks(stores.ch, [
    { ...ann, session: 11, at: now - 90 * minute, page_id: 'a', sequence: 0, path: '/' },
    { ...ann, session: 11, at: now - 89 * minute, page_id: 'a', sequence: 1, path: '/' },
    { ...ann, session: 11, at: now - 88 * minute, page_id: 'b', sequence: 0, path: '/pricing' },
    // Sent twice.
    { ...ann, session: 11, at: now - 88 * minute, page_id: 'b', sequence: 0, path: '/pricing' },
    { ...ann, session: 12, at: now - 30 * minute },
    { ...ben, session: 13, at: now - 60 * minute },
    { workspace_id: others.workspaceId, session: 11, at: now - minute, anonymous_id: 'theirs', visitor: '5' },
  ])
})

async function list(query = '', workspace = mine): Promise<Replay[]> {
  const response = await api.ask(`/v1/replays?${query}`, { key: workspace.apiKey })
  expect(response.status).toBe(200)
  return (await response.json()) as Replay[]
}
const idsOf = async (query = '', workspace = mine) => (await list(query, workspace)).map(({ id }) => id)

test('a replay is its session’s chunks together, each once', async () => {
  expect(await list('session_id=s11')).toEqual([
    {
      id: 11,
      object_id: 'replay_11',
      session_id: 's11',
      anonymous_id: 'ann',
      contact_id: null,
      started_at: new Date(now - 90 * minute).toISOString(),
      duration_ms: 2 * minute + 4_000,
      pages: 2,
      entry_path: '/',
      clicks: 3,
      device: 'desktop',
      browser: 'Chrome',
      country: 'DE',
      bytes: 300,
      event_count: 9,
    },
  ])
  expect((await list('session_id=s13'))[0]).toMatchObject({ browser: 'Firefox', country: '' })
})

test('the list is newest first, in pages, and filtered', async () => {
  expect(await idsOf()).toEqual([12, 13, 11])
  expect(await idsOf('limit=1')).toEqual([12])
  expect(await idsOf('limit=1&before_id=replay_12')).toEqual([13])
  expect(await idsOf('before_id=13')).toEqual([11])
  expect(await idsOf('before_id=11')).toEqual([])
  expect(await idsOf('anonymous_id=ann')).toEqual([12, 11])
  expect(await idsOf('path=/pricing')).toEqual([11])
  expect(await idsOf('min_seconds=124')).toEqual([11])
  expect(await idsOf('min_seconds=125')).toEqual([])
  expect(await idsOf('hours=1')).toEqual([12])
  const start = new Date(now - 70 * minute).toISOString()
  const end = new Date(now - 40 * minute).toISOString()
  expect(await idsOf(`start=${start}&end=${end}`)).toEqual([13])
  expect(await idsOf('contact_id=999999')).toEqual([])
  for (const query of ['limit=0', 'limit=201', 'min_seconds=x', 'before_id=post_1', 'hours=0']) {
    expect([query, (await api.ask(`/v1/replays?${query}`, { key: mine.apiKey })).status]).toEqual([query, 422])
  }
})

test('a contact has the replays of a browser from its binding to the next one', async () => {
  const { workspaceId } = mine
  const makeContact = async (email: string) => {
    const [row] = await stores.pg.query<{ id: number }>(
      `INSERT INTO contacts (workspace_id, email, email_hash, first_identified_at, last_identified_at, first_seen_at, last_seen_at)
       VALUES ($1, $2, 1 + length($2), $3, $3, $3, $3) RETURNING id`,
      [workspaceId, email, now],
    )
    return row!.id
  }
  const [first, second] = [await makeContact('ann@example.com'), await makeContact('zoe.b@example.com')]
  for (const [contact, from] of [
    [first, 0],
    [second, now - 45 * minute],
  ]) {
    await stores.pg.query(
      `INSERT INTO bindings (workspace_id, anonymous_id, visitor, contact_id, from_at, from_id) VALUES ($1, 'ann', $2, $3, $4, 0)`,
      [workspaceId, visitorOf('ann'), contact, from],
    )
  }
  expect(await idsOf(`contact_id=${first}`)).toEqual([11])
  expect(await idsOf(`contact_id=contact_${second}`)).toEqual([12])
  expect((await list()).map(({ contact_id }) => contact_id)).toEqual([second, null, first])
  await stores.pg.query('DELETE FROM bindings WHERE workspace_id = $1', [workspaceId])
})

test('a contact whose browser went to and fro thousands of times has its replays', async () => {
  const workspace = await makeWorkspace(stores)
  const visitor = stores.hashes.visitorOf(workspace.workspaceId, 'shared')
  const { ann } = await bindAlternately(stores.pg, workspace, {
    visitor,
    periods: 8_000,
    from: now - 60 * minute,
    everyMs: 400,
  })
  const chunk = { workspace_id: workspace.workspaceId, visitor, anonymous_id: 'shared', duration_ms: 0 }
  await insertChunks(stores.ch, [
    { ...chunk, session: 61, at: now - 60 * minute + 2_000_100 },
    { ...chunk, session: 62, at: now - 60 * minute + 2_000_500 },
  ])
  expect(await idsOf(`contact_id=${ann}`, workspace)).toEqual([61])
})

async function page(id: number | string, query = '', workspace = mine): Promise<ReplayPage> {
  const response = await api.ask(`/v1/replays/${id}?${query}`, { key: workspace.apiKey })
  expect(response.status).toBe(200)
  return (await response.json()) as ReplayPage
}

test('a replay’s events come as they were recorded, in pages behind one another', async () => {
  const whole = await page('replay_11')
  expect(whole.replay).toEqual((await list('session_id=s11'))[0])
  expect(whole.chunks.map(({ page_id, sequence }) => [page_id, sequence])).toEqual([
    ['a', 0],
    ['a', 1],
    ['b', 0],
  ])
  expect(whole.next_after_id).toBe(null)
  expect(whole.chunks[0]!.events.map(({ type }) => type)).toEqual([4, 2, 3])
  const first = await page(11, 'limit=2')
  expect([first.chunks.length, first.next_after_id]).toEqual([2, first.chunks[1]!.id])
  const rest = await page(11, `after_id=${first.next_after_id}`)
  expect([...first.chunks, ...rest.chunks]).toEqual(whole.chunks)
})

test('a page ends before it exceeds its bytes, and has at least one chunk', async () => {
  const text = incompressible(1_000)
  const bytes = Math.floor(replayPageBytesMax * 0.6)
  const events = pack(madeEvents(now, 1, text))
  const row = { workspace_id: mine.workspaceId, session: 21, at: now, json_bytes: bytes, events }
  await insertChunks(stores.ch, [row, { ...row, json_bytes: 2 * replayPageBytesMax }, row])
  const ids: number[] = []
  let after: number | null = null
  for (let pages = 0; pages < 5; pages++) {
    const { chunks, next_after_id }: ReplayPage = await page(21, after === null ? '' : `after_id=${after}`)
    expect(chunks).toHaveLength(1)
    ids.push(chunks[0]!.id)
    after = next_after_id
    if (after === null) break
  }
  expect(new Set(ids).size).toBe(3)
})

test('another workspace has its own replay of the same number', async () => {
  expect(await idsOf('', others)).toEqual([11])
  const { replay, chunks } = await page(11, '', others)
  expect([replay.anonymous_id, chunks.length]).toEqual(['theirs', 1])
})

test('a chunk counts in its newest version, and of chunks that began at once the first to arrive is the first page', async () => {
  const workspace = await makeWorkspace(stores)
  const { workspaceId: workspace_id } = workspace
  const twice = { workspace_id, session: 51, page_id: 'p', sequence: 0 }
  await insertChunks(stores.ch, [
    { ...twice, at: now - 50 * minute },
    { ...twice, at: now - 20 * minute },
    { workspace_id, session: 52, at: now - 30 * minute, page_id: 'z', path: '/first', browser: 'Firefox' },
    { workspace_id, session: 52, at: now - 30 * minute, page_id: 'a', path: '/second', browser: 'Chrome' },
  ])
  expect(await idsOf('', workspace)).toEqual([51, 52])
  expect(await idsOf('before_id=51', workspace)).toEqual([52])
  expect((await list('', workspace))[1]).toMatchObject({ entry_path: '/first', browser: 'Firefox' })
})

test('a replay that began before the readable time is hidden at once, and deleted with its day', async () => {
  const workspace = await makeWorkspace(stores)
  const { workspaceId: workspace_id } = workspace
  const day = 24 * 60 * minute
  await insertChunks(stores.ch, [
    { workspace_id, session: 31, at: now - 5 * day },
    { workspace_id, session: 32, at: now - minute },
  ])
  expect(await idsOf('', workspace)).toEqual([32, 31])
  await changeWorkspace(stores.pg, workspace_id, { retentionDays: 2 })
  // The other key's workspace is cached for two seconds.
  const again = { ...workspace, apiKey: (await makeKey(stores, workspace_id)).apiKey }
  expect(await idsOf('', again)).toEqual([32])
  expect((await api.ask('/v1/replays/31', { key: again.apiKey })).status).toBe(404)
  await expireData(jobContext(stores, Date.now()))
  const left = await stores.ch.query('SELECT session FROM replay_chunks WHERE workspace_id = {workspace_id:UInt32}', {
    workspace_id,
  })
  expect(left).toEqual([{ session: 32 }])
})

test('an erased person’s sessions are deleted whole, and chunks that came late with them', async () => {
  const workspace = await makeWorkspace(stores)
  const { workspaceId: workspace_id } = workspace
  const visitor = stores.hashes.visitorOf(workspace_id, 'ann')
  const chunk = { workspace_id, visitor, anonymous_id: 'ann' }
  await insertChunks(stores.ch, [
    { ...chunk, session: 41, sequence: 0, at: now - 60 * minute },
    { ...chunk, session: 41, sequence: 1, at: now - 30 * minute },
    { ...chunk, session: 42, at: now - 90 * minute },
    { workspace_id, session: 43, at: now - 30 * minute },
  ])
  // Hers from 40 minutes ago on: before, the browser was somebody else's.
  const browsers = [{ visitor, fromAt: now - 40 * minute, fromId: 0, toAt: null, toId: null }]
  const erasure = {
    id: 1,
    workspaceId: workspace_id,
    emailHash: null,
    browsers,
    requestedAt: now,
    aheadAfter: now + 60 * minute,
    places: null,
    clearedVersion: null,
    isRepaired: false,
    daysLeft: [],
  }
  expect(await eraseReplays(stores.ch, erasure)).toBe(1)
  expect(await idsOf('', workspace)).toEqual([43, 42])

  await stores.pg.query(
    `INSERT INTO erasures (workspace_id, browsers, requested_at, done_at) VALUES ($1, $2, to_timestamp($3 / 1000.0), now())`,
    [workspace_id, JSON.stringify(browsers), now],
  )
  await insertChunks(stores.ch, [{ ...chunk, session: 44, at: now - minute }])
  // Recordings that the browser sends after the erasure are new.
  await insertChunks(stores.ch, [{ ...chunk, session: 45, at: now + minute }])
  const done = (await listDoneErasures(stores.pg)).find(({ workspaceId }) => workspaceId === workspace_id)
  expect(await eraseReplays(stores.ch, done!)).toBe(1)
  const left = await stores.ch.query<{ session: number }>(
    'SELECT DISTINCT session FROM replay_chunks WHERE workspace_id = {workspace_id:UInt32} ORDER BY session',
    { workspace_id },
  )
  expect(left.map(({ session }) => session)).toEqual([42, 43, 45])
})
