/** `svc figures`, and figures in another timezone. */
import { beforeAll, expect, test } from 'vitest'
import { cellColumns } from '../../clickhouse/rollups/cells.ts'
import { BuildError, beginAndDeleteBuilds, buildNextPart } from '../../pipeline/fold/build.ts'
import { beginBuild, listOpenBuilds, readCurrentBuild } from '../../postgres/tables/figures/figure-builds.ts'
import { leaseFold, releaseFold } from '../../postgres/tables/figures/folds.ts'
import { advanceMark, leaseSegments } from '../../postgres/tables/operation/segment-leases.ts'
import { requestDeletion } from '../../postgres/tables/workspaces/workspace-deletions.ts'
import { listWorkspaces } from '../../postgres/tables/workspaces/workspaces.ts'
import { leftBuildKeepMs } from '../../schemas/limits/figure-limits.ts'
import { segmentLeaseSize, segmentRowsMax } from '../../schemas/limits/log-limits.ts'
import { runSvc, storeSettings, svcOn } from '../support/command-line.ts'
import { type EventLike, insertEventRows, makeEventRow } from '../support/event-rows.ts'
import { closeDaysAt, foldAll, foldWhatIsThere, workOn } from '../support/fold.ts'
import { makeTestWorkspace, type Overview, type TestWorkspace } from '../support/overview.ts'
import { setUpStores } from '../support/stores.ts'
import { startTcpProxy } from '../support/tcp-proxy.ts'

const now = Date.parse('2026-11-20T14:25:00Z')
const later = now + 30 * 60_000

const stores = setUpStores({ hasYearlyParts: true })
let workspace: TestWorkspace
beforeAll(async () => {
  workspace = await makeTestWorkspace(stores, {})
  await workspace.addEvents(visits)
  await closeDaysAt(stores, now)
})

/** Events of visitors who come back, over midnights of several timezones. */
const visits: EventLike[] = Array.from({ length: 40 }, (_, nth) => ({
  visitor: 1 + (nth % 7),
  session: 100 + (nth >> 1),
  path: `/${nth % 4}`,
  ...(nth % 5 === 0 ? { source: 'news', medium: 'email' } : {}),
  ...(nth % 9 === 0 ? { kind: 'conversion' as const } : {}),
  ...(nth % 4 === 1 ? { kind: 'web_vital' as const, metric: 'CLS' as const, metric_value: 0.0015 } : {}),
  occurred_at: now - nth * 245 * 60_000,
}))

async function figures(command: string) {
  const words = command === 'status' ? [] : ['--workspace', String(workspace.id)]
  const { code, json } = await svcOn(stores, 'figures', command, ...words)
  return { code, said: json as Record<string, unknown> }
}

/** All but what depends on the workspace, and on when it was asked. */
async function shownOf(asked: TestWorkspace, query: Record<string, string>) {
  const { snippet: _, recent_events, metrics, ...lists } = (await asked.ask(query)) satisfies Overview
  const events = recent_events.map(({ path, occurred_at }) => [path, occurred_at])
  return { ...lists, metrics: { ...metrics, as_of: '' }, events }
}

/** Condition: the workspace's rows in use. */
async function ofFigures(): Promise<string> {
  return `workspace_id = ${workspace.id} AND build = ${(await readCurrentBuild(stores.pg, workspace.id))!.build}`
}

const update = (table: string, change: string) => ({
  table,
  statement: (rows: string) => `ALTER TABLE ${table} UPDATE ${change} WHERE ${rows} SETTINGS mutations_sync = 1`,
})
const insert = (replaced: string, which: string) => ({
  table: 'sessions',
  statement: (rows: string) =>
    `INSERT INTO sessions SELECT * REPLACE (${replaced}) FROM sessions FINAL WHERE ${rows} AND ${which} LIMIT 1`,
})
/** To the sums of samples, under a higher version. */
function addToTotals(more: number) {
  const shown = { version: 'version + 1', 'sample.total': `arrayMap(total -> total + ${more}, sample.total)` }
  const selected = cellColumns.map((name) => shown[name as keyof typeof shown] ?? name)
  const statement = (rows: string) =>
    `INSERT INTO cells (${cellColumns.join()}) SELECT ${selected.join()} FROM cells FINAL WHERE ${rows}`
  return { table: 'cells', statement }
}
const alterations = [
  // Where sessions entered and left, what visitors were seen with, what conversions are credited to, and the cells of a day.
  update('credits', "source = 'elsewhere'"),
  update('cells', 'is_cut = 1'),
  addToTotals(0.001),
  update('sessions', "entry_path = '/elsewhere'"),
  update('sessions', "exit_path = '/elsewhere'"),
  update('visitors', "keys = ['v']"),
  // A session, under a higher version, and one that there never was.
  insert('version + 1000 AS version, lasted_ms + 1 AS lasted_ms', 'nth_day = 1'),
  insert('session + 1000 AS session', '1'),
]

test('a check finds each day where rows of any kind were altered, and a rebuild mends them all', async () => {
  const before = await shownOf(workspace, { days: '7' })
  const rows = await ofFigures()
  const days: number[] = []
  for (const { table, statement } of alterations) {
    const [unaltered] = await stores.ch.query<{ first: number }>(
      `SELECT min(day) AS first FROM ${table} WHERE ${rows} AND NOT has({days:Array(UInt16)}, day)`,
      { days },
    )
    days.push(unaltered!.first)
    await stores.ch.command(statement(`${rows} AND day = ${unaltered!.first}`))
  }
  const differences = [{ workspace_id: workspace.id, days: alterations.length }]
  expect(await figures('check')).toMatchObject({ code: 1, said: { workspaces: 1, differences, erasing: [] } })
  await stores.pg.query(`INSERT INTO erasures (workspace_id, browsers) VALUES ($1, '[]')`, [workspace.id])
  const unsure = { workspaces: 1, differences, erasing: [workspace.id] }
  expect(await figures('check')).toMatchObject({ code: 1, said: unsure })
  await stores.pg.query('DELETE FROM erasures WHERE workspace_id = $1', [workspace.id])
  expect(await figures('rebuild')).toMatchObject({ code: 0, said: { workspaces: 1 } })
  expect(await shownOf(workspace, { days: '7' })).toEqual(before)
  // As if floats had been added in another order.
  await stores.ch.command(addToTotals(-1e-12).statement(await ofFigures()))
  expect(await figures('check')).toMatchObject({ code: 0, said: { workspaces: 1, differences: [] } })
})

test('status says as of when figures are, and what waits', async () => {
  const settled = await figures('status')
  expect(settled).toEqual({
    code: 0,
    said: {
      version: expect.any(Number),
      as_of: expect.stringMatching(/^\d{4}-.*Z$/),
      pending_events: 0,
      lag_seconds: 0,
      repairs: 0,
      workspaces: 1,
      builds_in_progress: 0,
    },
  })
  const first = await leaseSegments(stores.pg, segmentLeaseSize)
  const id = first * segmentRowsMax
  await insertEventRows(stores.ch, [{ ...makeEventRow({ workspace_id: workspace.id, occurred_at: now }), id }])
  await advanceMark(stores.pg, first, id)
  expect((await figures('status')).said).toMatchObject({ pending_events: 1, lag_seconds: expect.any(Number) })
  await foldAll(stores)
  const { said } = await figures('status')
  expect(said).toMatchObject({ pending_events: 0, lag_seconds: 0 })
  expect(said['version']).toBeGreaterThan(settled.said['version'] as number)
})

// Early in the file: it goes over all workspaces.
test('checks and rebuilds tell of all other workspaces where one is deleted meanwhile', async () => {
  const gone = await makeTestWorkspace(stores, {})
  const kept = await listWorkspaces(stores.pg)
  await leaseFold(stores.pg, 'another', 60_000)
  const commands = ['check', 'rebuild'].map((command) => svcOn(stores, 'figures', command))
  const begun = async () => (await listOpenBuilds(stores.pg)).filter(({ state }) => state === 'building')
  await expect.poll(async () => (await begun()).length, { timeout: 60_000 }).toBe(2 * kept.length)
  await stores.pg.transaction((tx) => requestDeletion(tx, gone.id))
  await stores.pg.query('DELETE FROM figure_builds WHERE workspace_id = $1', [gone.id])
  await releaseFold(stores.pg, 'another')
  const workspaces = kept.length - 1
  expect(await Promise.all(commands)).toMatchObject([
    { code: 0, json: { workspaces, differences: [] } },
    { code: 0, json: { workspaces } },
  ])
})

test('a build that fails is tried later, and others are built meanwhile', async () => {
  const workspaces = [await makeTestWorkspace(stores, {}), await makeTestWorkspace(stores, {})]
  for (const { id, addEvents } of workspaces) {
    await addEvents(visits)
    await beginBuild(stores.pg, id, 'check')
  }
  const work = workOn(stores)
  const full = new Error('no memory is left')
  const failing = { ...work, ch: { ...work.ch, insertRows: () => Promise.reject(full) } }
  const error = await buildNextPart(failing, later).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(BuildError)
  const { build, cause } = error as BuildError
  expect([build.workspaceId, cause]).toEqual([workspaces[0]!.id, full])
  const paused = new Set([build.build])
  for (const _ of ['derive', 'finish']) expect(await buildNextPart(work, later, paused)).toBe(true)
  expect(await buildNextPart(work, later, paused)).toBe(false)
  for (const _ of ['derive', 'finish']) expect(await buildNextPart(work, later)).toBe(true)
  expect(await buildNextPart(work, later)).toBe(false)
})

test('figures go on in the old timezone until those of the new one stand, while events come in', async () => {
  const [moved, before, after] = [
    await makeTestWorkspace(stores, { timezone: 'America/New_York' }),
    await makeTestWorkspace(stores, { timezone: 'America/New_York' }),
    await makeTestWorkspace(stores, { timezone: 'Asia/Kathmandu' }),
  ]
  let added = 0
  const add = async () => {
    added++
    const rows = [moved, before, after].flatMap(({ id: workspace_id }) =>
      visits.map((event, nth) => makeEventRow({ ...event, workspace_id, visitor: 1 + ((nth + added) % 11) })),
    )
    await insertEventRows(stores.ch, rows)
    await foldWhatIsThere(stores)
  }
  const expectAs = async (other: TestWorkspace, query: Record<string, string> = { days: '7' }) =>
    expect(await shownOf(moved, query)).toEqual(await shownOf(other, query))
  const work = workOn(stores)
  await add()
  await closeDaysAt(stores, now)
  await stores.pg.query(`UPDATE workspaces SET timezone = 'Asia/Kathmandu' WHERE id = $1`, [moved.id])
  await expectAs(before)
  await beginAndDeleteBuilds(work)
  const timezone = async () => (await moved.ask()).metrics.range.timezone
  // Begun, then derived, then with cells: before each step events come in.
  for (const _ of ['derive', 'finish']) {
    expect(await timezone()).toBe('America/New_York')
    await add()
    await expectAs(before)
    expect(await buildNextPart(work, later)).toBe(true)
  }
  expect(await timezone()).toBe('Asia/Kathmandu')
  expect(await buildNextPart(work, later)).toBe(false)
  await closeDaysAt(stores, later)
  await expectAs(after)
  await add()
  await expectAs(after)
  await expectAs(after, { start: '2026-11-18T03:00:00Z', end: '2026-11-20' })

  // Rows of the old one are deleted once nobody can be reading them.
  const sql = 'SELECT uniqExact(build) AS builds FROM sessions WHERE workspace_id = {id:UInt32}'
  const buildsWithRows = () => stores.ch.query<{ builds: number }>(sql, { id: moved.id })
  await beginAndDeleteBuilds(work)
  expect(await buildsWithRows()).toEqual([{ builds: 2 }])
  await stores.pg.query(
    `UPDATE figure_builds SET changed_at = changed_at - make_interval(secs => $1) WHERE state = 'left'`,
    [leftBuildKeepMs / 1000],
  )
  // A call begins to delete, and a later one finds that it is done: folds don't wait for it.
  const left = async () => {
    await beginAndDeleteBuilds(work)
    return stores.pg.query(`SELECT build FROM figure_builds WHERE state = 'left'`)
  }
  await expect.poll(left).toEqual([])
  expect(await buildsWithRows()).toEqual([{ builds: 1 }])
  await expectAs(after)
})

test('where ClickHouse hangs, commands whose statements may take minutes end within seconds, and begin nothing', async () => {
  const proxy = await startTcpProxy(stores.clickhouseUrl)
  try {
    await proxy.set('hanging')
    const commands = [
      'restore numbers',
      'restore marks',
      'figures rebuild',
      'events export',
      'people erase --contact 1',
    ]
    const env = storeSettings({ ...stores, clickhouseUrl: proxy.url })
    const said = await Promise.all(commands.map((command) => runSvc(command.split(' '), env, undefined, 500)))
    const late = expect.stringContaining('no answer within 500 ms')
    expect(said).toEqual(commands.map(() => ({ code: 1, out: '', err: late })))
    expect(await listOpenBuilds(stores.pg)).not.toContainEqual(expect.objectContaining({ state: 'building' }))
  } finally {
    await proxy.close()
  }
})

// The last ones of this file: rows of its stores aren't of figures any more.
test('after a restore of Postgres, no number is given out that rows in ClickHouse have, and none is lowered', async () => {
  for (const insert of [
    'sessions (workspace_id, version, build) SELECT 400, 9000000, 8000',
    'replay_chunks (workspace_id) SELECT 500',
    'events (workspace_id, link_id, post_id) SELECT 1, 600, 0',
    'link_clicks (workspace_id, link_id, post_id) SELECT 1, 0, 700',
    'search_days (workspace_id, site) SELECT 1, 800',
  ]) {
    await stores.ch.command(`INSERT INTO ${insert}`)
  }
  const restore = async () => (await svcOn(stores, 'restore', 'numbers')).json
  const least = { version: 9_000_000, build: 8000, sites: 800 }
  const skipped = { workspaces: 1_000_501, links: 1_000_601, posts: 1_000_701 }
  expect(await restore()).toMatchObject({ ...least, ...skipped, leases: expect.any(Number) })
  expect((await makeTestWorkspace(stores, {})).id).toBe(1_000_502)
  expect((await restore())['workspaces']).toBeGreaterThan(1_000_502)
})

test('after a restore of Postgres, no number is given out that webhooks or answers told of since the backup', async () => {
  const nextContact = async () =>
    (await stores.pg.query<{ id: number }>(`SELECT nextval(pg_get_serial_sequence('contacts', 'id')) AS id`))[0]!.id
  const inBackup = await nextContact()
  const told = await nextContact()
  await stores.pg.query(`SELECT setval(pg_get_serial_sequence('contacts', 'id'), $1)`, [inBackup])
  const { json } = await svcOn(stores, 'restore', 'numbers')
  expect(await nextContact()).toBeGreaterThan(told)
  const named = ['contacts', 'media', 'post_targets', 'social_accounts', 'webhook_endpoints', 'webhook_deliveries']
  const more = [
    'payments',
    'feeds',
    'domains',
    'goals',
    'notes',
    'segments',
    'funnels',
    'snippets',
    'api_keys',
    'accounts',
  ]
  for (const name of [...named, ...more, 'audit_events'])
    expect([name, (json[name] as number) > 1_000_000]).toEqual([name, true])
})

test('after a restore of Postgres, a rebuild shows events that were folded under versions that ClickHouse has', async () => {
  const restored = await makeTestWorkspace(stores, {})
  const shown = async () => (await restored.ask()).recent_events.length
  await stores.ch.command('INSERT INTO sessions (version) SELECT 20000000')
  await restored.addEvents(visits.filter(({ kind }) => kind !== 'web_vital'))
  expect(await shown()).toBe(0)
  await svcOn(stores, 'restore', 'numbers')
  await svcOn(stores, 'figures', 'rebuild', '--workspace', String(restored.id))
  expect(await shown()).toBeGreaterThan(0)
})
