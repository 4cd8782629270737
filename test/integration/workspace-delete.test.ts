/** `svc workspace delete`: nothing is left of a workspace but its audit log, and the others are as they were. */
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { readOwnWorkspace, updateOwnWorkspace } from '../../api/dashboard/operations/workspaces.ts'
import { refreshPeople } from '../../pipeline/people/refresh.ts'
import { deleteRemoved } from '../../pipeline/retention/delete-removed.ts'
import { deleteWorkspaces } from '../../pipeline/retention/delete-workspaces.ts'
import { insertLink } from '../../postgres/tables/links/links.ts'
import { insertOutbox } from '../../postgres/tables/webhooks/outbox.ts'
import { appendSystemChange } from '../../postgres/tables/workspaces/audit.ts'
import { readDeletion, requestDeletion } from '../../postgres/tables/workspaces/workspace-deletions.ts'
import { readWorkspace } from '../../postgres/tables/workspaces/workspaces.ts'
import { makeLog } from '../../runtime/log.ts'
import { workspaceDeletionGraceMs } from '../../schemas/limits/ingest-limits.ts'
import { makeWorkspace, setUpApi, type TestWorkspace } from '../support/api.ts'
import { runSvc, storeSettings, svcOn } from '../support/command-line.ts'
import { insertEventRows, makeEventRow } from '../support/event-rows.ts'
import { workOn } from '../support/fold.ts'
import { setUpIngest } from '../support/ingest.ts'
import { isLong } from '../support/short-form.ts'
import { setUpFolder } from '../support/test-folder.ts'
import { countWaiting } from '../support/waiting-for-locks.ts'
import { workspacePlaces } from '../support/workspace-places.ts'

const { stores, api } = setUpApi({ sharesWorkspace: true })
const ingest = setUpIngest(stores)
const { fillWaiting, placesWith, fill, fillWork, fillMade, creditByPerson, inPostgres, inClickHouse } =
  workspacePlaces(stores)

const folder = setUpFolder()
const now = Date.now()
const kept = ['postgres audit_events', 'postgres audit_heads', 'postgres workspace_deletions']
const going = () => new AbortController().signal
const deleting = (signal = going()) =>
  deleteWorkspaces({ pg: stores.pg, ch: stores.ch, log: makeLog('test', 'silent'), signal }, 0)

const svc = (...words: string[]) => svcOn(stores, ...words)

/** A workspace with rows in every place. */
async function makeFull(): Promise<TestWorkspace & { linkKey: string; name: string }> {
  const made = await makeWorkspace(stores)
  const { workspaceId } = made
  await fill(workspaceId)
  while (!(await refreshPeople(workOn(stores), now)));
  await fillWork(workspaceId, now)
  await fillMade(workspaceId)
  await creditByPerson(workspaceId, now)
  const utm = { utmSource: 'svc', utmMedium: 'social', utmCampaign: '', utmContent: '' }
  const link = await insertLink(stores.pg, {
    workspaceId,
    label: 'a',
    destinationUrl: 'https://example.com/',
    postId: null,
    socialAccountId: null,
    ...utm,
  })
  await svc('workspace', 'set', '--workspace', String(workspaceId), '--currency', 'EUR')
  const [row] = await stores.pg.query<{ name: string }>('SELECT name FROM workspaces WHERE id = $1', [workspaceId])
  return { ...made, linkKey: link.attribution_key, name: row!.name }
}

const follow = (key: string) => fetch(`http://127.0.0.1:${ingest.port}/l/${key}`, { redirect: 'manual' })
const track = (key: string) => ingest.post('/track', { tracking_key: key, event_name: 'pageview', anonymous_id: 'a' })
const rowsOf = async (table: string) =>
  (await stores.pg.query<{ rows: number }>(`SELECT count(*) AS rows FROM ${table}`))[0]!.rows

test('a deleted workspace lets nobody in from then on, and leaves nothing but its audit log in any place', async () => {
  const [gone, other] = [await makeFull(), await makeFull()]
  for (const { workspaceId } of [gone, other]) await fillWaiting(workspaceId)
  await stores.pg.query(`UPDATE webhook_deliveries SET status = 'pending', next_attempt_at = NULL`)
  for (const row of [`'merge-inbox-row', 'event_' || event_id`, `'deliver-webhook', 'webhook_delivery_' || id`]) {
    const table = row.includes('event_id') ? 'inbox' : 'webhook_deliveries'
    await stores.pg.query(
      `INSERT INTO set_aside_jobs (job, subject, reason) SELECT ${row}, workspace_id FROM ${table} WHERE workspace_id = ANY ($1)`,
      [[gone.workspaceId, other.workspaceId]],
    )
  }
  const named = `EXISTS (SELECT FROM pg_attribute WHERE attrelid = pg_class.oid AND attname = 'workspace_id' AND NOT attisdropped)`
  const places = [
    ...(await inPostgres(named)).map((name) => `postgres ${name}`),
    ...(await inClickHouse()).filter((name) => name !== 'schema_migrations').map((name) => `clickhouse ${name}`),
  ].filter((place) => place !== 'postgres workspace_deletions')
  expect(await placesWith(gone.workspaceId)).toEqual(places)
  const unnamed = ['post_media', 'post_targets', 'post_engagement', 'social_account_credentials', 'owners', 'media']
  const before = await Promise.all(unnamed.map(rowsOf))
  await vi.waitFor(async () => expect((await follow(gone.linkKey)).status).toBe(302), 60_000)
  expect((await track(gone.trackingKey)).status).toBe(202)

  const words = ['workspace', 'delete', '--workspace', String(gone.workspaceId)]
  expect(await svc(...words)).toMatchObject({ code: 2, err: expect.stringContaining('--yes NAME is required') })
  const another = { code: 1, err: expect.stringContaining('another name') }
  expect(await svc(...words, '--yes', other.name)).toMatchObject(another)
  expect(await placesWith(gone.workspaceId)).toEqual(places)

  const ending = svc(...words, '--yes', gone.name)
  await vi.waitFor(async () => expect((await track(gone.trackingKey)).status).toBe(401), 60_000)
  await vi.waitFor(async () => expect((await follow(gone.linkKey)).status).toBe(404), 60_000)
  expect((await api.ask('/v1/workspace', { key: gone.apiKey })).status).toBe(401)
  // Its grace is over: every node has read it.
  await stores.pg.query('UPDATE workspace_deletions SET requested_at = requested_at - make_interval(secs => $1)', [
    workspaceDeletionGraceMs / 1_000,
  ])
  expect(((await svc('workspace', 'list')).json as { id: number }[]).map(({ id }) => id)).not.toContain(
    gone.workspaceId,
  )
  const { code, json } = await ending
  expect([code, json]).toEqual([0, expect.objectContaining({ workspace_id: gone.workspaceId })])
  // Events sent at the last moment are stored behind it, and go with the daily run.
  await ingest.shipped()
  await deleteRemoved({ pg: stores.pg, ch: stores.ch, signal: going() })
  expect(await placesWith(gone.workspaceId)).toEqual(kept)
  const setAside = await stores.pg.query('SELECT DISTINCT job, reason FROM set_aside_jobs ORDER BY job')
  expect(setAside).toEqual(
    ['deliver-webhook', 'merge-inbox-row'].map((job) => ({ job, reason: String(other.workspaceId) })),
  )
  expect(await Promise.all(unnamed.map(rowsOf))).toEqual(before.map((rows) => rows - 1))
  expect(await placesWith(other.workspaceId)).toEqual(places)
  expect((await follow(other.linkKey)).status).toBe(302)
  expect((await track(other.trackingKey)).status).toBe(202)

  const verified = await svc('audit', 'verify', '--workspace', String(gone.workspaceId))
  expect(verified).toMatchObject({ code: 0, json: { is_intact: true, chains: [{ rows: 2 }] } })
  expect(await svc(...words)).toMatchObject({ code: 0, json })
})

test('a deletion that was cut off at any step is finished by the next run', async () => {
  const gone = await makeFull()
  const words = ['workspace', 'delete', '--workspace', String(gone.workspaceId), '--yes', gone.name]
  expect(await runSvc(words, storeSettings(stores), AbortSignal.abort())).toMatchObject({
    code: 1,
    err: 'svc workspace delete: interrupted\n',
  })
  expect((await readDeletion(stores.pg, gone.workspaceId))!.doneAt).toBeNull()
  // A run that ends between two steps, each time some later.
  for (let steps = 0, isCut = true; isCut; steps += stepsApart) {
    let left = steps
    const signal = { throwIfAborted: () => void (left-- > 0 || stop()) } as AbortSignal
    isCut = await deleting(signal).then(
      () => false,
      (error) => (error === cut ? true : Promise.reject(error)),
    )
    expect((await readDeletion(stores.pg, gone.workspaceId))!.doneAt === null).toBe(isCut)
  }
  expect(await placesWith(gone.workspaceId)).toEqual(kept)
})
/** In short: each run looks through all places. */
const stepsApart = isLong ? 11 : 23
const cut = new Error('cut off')
function stop(): never {
  throw cut
}

test('a workspace whose deletion fails holds up none of the others', async () => {
  const [stuck, other] = [await makeWorkspace(stores), await makeWorkspace(stores)]
  for (const { workspaceId } of [stuck, other]) await stores.pg.transaction((tx) => requestDeletion(tx, workspaceId))
  await stores.pg.query(`CREATE TABLE held (workspace_id integer REFERENCES workspaces)`)
  await stores.pg.query('INSERT INTO held VALUES ($1)', [stuck.workspaceId])
  await expect(deleting()).rejects.toThrow('held')
  expect((await readDeletion(stores.pg, other.workspaceId))!.doneAt).not.toBeNull()
  expect((await readDeletion(stores.pg, stuck.workspaceId))!.doneAt).toBeNull()
  await stores.pg.query('DROP TABLE held')
  await deleting()
  expect((await readDeletion(stores.pg, stuck.workspaceId))!.doneAt).not.toBeNull()
})

test('a workspace whose deletion is run twice at once is deleted by one of them, and neither fails', async () => {
  const { workspaceId } = await makeWorkspace(stores)
  // More than a portion, whose first and last row are held: between them one run has deleted some, and there are more.
  const rows = await stores.pg.query<{ id: number }>(
    `INSERT INTO outbox (workspace_id, event_id, type, object)
     SELECT $1, 'evt_of_many_' || n, 'post.published', '{}' FROM generate_series(1, 5001) AS n RETURNING id`,
    [workspaceId],
  )
  await stores.pg.transaction((tx) => requestDeletion(tx, workspaceId))
  const holding = (row: { id: number } | undefined, work: () => Promise<unknown>) =>
    stores.pg.transaction(async (tx) => {
      await tx.query('SELECT FROM outbox WHERE id = $1 FOR KEY SHARE', [row!.id])
      return work()
    })
  let ended = 0
  const run = () => deleting().finally(() => ended++)
  let runs: Promise<void>[] = []
  await holding(rows.at(-1), async () => {
    await holding(rows[0], () => {
      runs = [run(), run()]
      return vi.waitFor(async () => expect(ended + (await countWaiting(stores.pg))).toBe(2), 60_000)
    })
    await Promise.race(runs)
  })
  await Promise.all(runs)
  expect((await readDeletion(stores.pg, workspaceId))!.doneAt).not.toBeNull()
})

test('an owner with another workspace stays, and rows of deleted workspaces go though no other workspace is known', async () => {
  const shared = await makeWorkspace(stores)
  const words = ['workspace', 'create', '--name', 'Second', '--owner-of', String(shared.workspaceId)]
  const second = (await svc(...words)).json.workspace_id as number
  await stores.pg.transaction((tx) => requestDeletion(tx, second))
  await deleting()
  expect(await stores.pg.query('SELECT FROM owners WHERE id = $1', [shared.ownerId])).toHaveLength(1)
  for (const { id } of await stores.pg.query<{ id: number }>('SELECT id FROM workspaces')) {
    await stores.pg.transaction((tx) => requestDeletion(tx, id))
  }
  await deleting()
  expect(await rowsOf('owners')).toBe(0)
  await insertEventRows(
    stores.ch,
    [second, 1_000_000].map((workspace_id) => makeEventRow({ workspace_id, occurred_at: now })),
  )
  await deleteRemoved({ pg: stores.pg, ch: stores.ch, signal: going() })
  expect(await placesWith(second)).toEqual(kept)
  expect(await placesWith(1_000_000)).toEqual(['clickhouse events'])
})

test('a deletion lets a change pass that has a row of the workspace and then asks for the workspace itself', async () => {
  const { workspaceId } = await makeWorkspace(stores)
  let deletion: Promise<boolean> | undefined
  const waiting = `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'DELETE FROM api_keys%' AND datname = current_database()`
  await stores.pg.transaction(async (tx) => {
    await tx.query('SELECT 1 FROM api_keys WHERE workspace_id = $1 FOR UPDATE', [workspaceId])
    deletion = stores.pg.transaction((other) => requestDeletion(other, workspaceId))
    deletion.catch(() => {})
    await vi.waitFor(async () => expect(await stores.pg.query(waiting)).toHaveLength(1), 60_000)
    await insertOutbox(tx, workspaceId, 'post.published', {})
  })
  expect(await deletion).toBe(true)
  expect(await stores.pg.query('SELECT FROM api_keys WHERE workspace_id = $1', [workspaceId])).toEqual([])
})

const imports = [
  {
    words: ['revenue', 'import'],
    table: 'revenue_payments',
    lines: ['id,value_cents,currency,occurred_at', `p,1,EUR,${new Date(now).toISOString()}`],
  },
  { words: ['revenue', 'rates'], table: 'revenue_rates', lines: ['currency,rate', 'EUR,1.1'] },
  {
    words: ['ads', 'import'],
    table: 'ad_spend',
    lines: ['day,source,campaign,cost_cents,currency', '2026-01-02,google,c,1,EUR'],
  },
  {
    words: ['links', 'import'],
    table: 'links',
    lines: ['Link,Destination,Title', 'https://bit.ly/abcdef,https://example.com/,A'],
  },
]
test.each(imports)('$words adds nothing to a workspace that is deleted meanwhile', async ({ words, table, lines }) => {
  const { workspaceId } = await makeWorkspace(stores)
  const file = join(folder, `${table}.csv`)
  writeFileSync(file, lines.join('\n'))
  let importing: ReturnType<typeof svc> | undefined
  await stores.pg.transaction(async (tx) => {
    await requestDeletion(tx, workspaceId)
    importing = svc(...words, file, '--workspace', String(workspaceId))
    await vi.waitFor(async () => expect(await countWaiting(stores.pg)).toBe(1), 60_000)
  })
  expect(await importing).toMatchObject({ code: 1, err: expect.stringContaining('was deleted meanwhile') })
  expect(await stores.pg.query(`SELECT FROM ${table} WHERE workspace_id = $1`, [workspaceId])).toEqual([])
})

test('an export whose workspace is deleted meanwhile fails, and leaves no file', async () => {
  const { workspaceId } = await makeWorkspace(stores)
  const file = join(folder, 'export.jsonl')
  let exporting: ReturnType<typeof svc> | undefined
  await stores.pg.transaction(async (tx) => {
    await requestDeletion(tx, workspaceId)
    const change = { action: 'workspace.delete', resourceId: workspaceId, metadata: {} } as const
    await appendSystemChange(tx, { workspaceId, actorName: 'svc', ...change })
    exporting = svc('events', 'export', '--out', file, '--workspace', String(workspaceId))
    await vi.waitFor(async () => expect(await countWaiting(stores.pg)).toBe(1), 60_000)
  })
  expect(await exporting).toMatchObject({ code: 1, err: expect.stringContaining('was deleted meanwhile') })
  expect(existsSync(file)).toBe(false)
})

test('a change of settings that is under way when the workspace goes is 403', async () => {
  const { workspaceId } = await makeWorkspace(stores)
  const workspace = (await readWorkspace(stores.pg, workspaceId))!
  await stores.pg.transaction((tx) => requestDeletion(tx, workspaceId))
  const call = { workspace, stores, body: { name: 'New' } } as never
  for (const { handle } of [readOwnWorkspace, updateOwnWorkspace]) {
    await expect(handle(call)).rejects.toMatchObject({ code: 'workspace_access_denied' })
  }
})
