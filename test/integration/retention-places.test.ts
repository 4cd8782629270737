/** Every place that holds data has a line in docs/retention.md; what is past its time, and what is left of a removed workspace, goes from all of them. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { refreshPeople } from '../../pipeline/people/refresh.ts'
import { makePipelineMetrics } from '../../pipeline/pipeline-metrics.ts'
import { jobs } from '../../pipeline/queue/jobs.ts'
import { expireData } from '../../pipeline/retention/expire-data.ts'
import { createWorkspace } from '../../postgres/tables/workspaces.ts'
import { fixedClock } from '../../runtime/clock.ts'
import { makeLog } from '../../runtime/log.ts'
import { makeMetrics } from '../../runtime/metrics.ts'
import { insertBotVisitRows, insertEventRows, makeBotVisitRow, makeEventRow } from '../support/event-rows.ts'
import { closeDaysAt, foldWhatIsThere, workOn } from '../support/fold.ts'
import { setUpStores } from '../support/stores.ts'

const dayMs = 86_400_000
const now = Date.now()
/** Which migrations were applied, in both stores. */
const ofMigrations = 'schema_migrations'

const stores = setUpStores()

const inPostgres = (where = 'true') =>
  stores.pg
    .query<{ name: string }>(
      `SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
         AND ${where} ORDER BY 1`,
    )
    .then((rows) => rows.map(({ name }) => name))
const inClickHouse = async () =>
  (
    await stores.ch.query<{ name: string }>(
      'SELECT name FROM system.tables WHERE database = currentDatabase() ORDER BY name',
    )
  ).map(({ name }) => name)

/** Names of tables by store, as the page's last table has them. */
function listed(store: string): string[] {
  const page = readFileSync(new URL('../../docs/retention.md', import.meta.url), 'utf8')
  const lines = page.split('## Every place')[1]!.split('\n')
  const places = lines.filter((line) => line.startsWith(`| ${store} `)).map((line) => line.split('|')[1]!)
  return places.flatMap((place) => [...place.matchAll(/`(\w+)`/g)].map(([, name]) => name!)).sort()
}

test('the page names every table of both stores, each once', async () => {
  const isOwn = (name: string) => name !== ofMigrations
  expect(listed('Postgres')).toEqual((await inPostgres()).filter(isOwn))
  expect(listed('ClickHouse')).toEqual((await inClickHouse()).filter(isOwn))
})

/** Tables with rows of a workspace. */
async function placesWith(workspaceId: number): Promise<string[]> {
  const hasColumn = `EXISTS (SELECT FROM pg_attribute WHERE attrelid = pg_class.oid AND attname = 'workspace_id' AND NOT attisdropped)`
  const found: string[] = []
  for (const name of await inPostgres(hasColumn)) {
    const rows = await stores.pg.query(`SELECT FROM ${name} WHERE workspace_id = $1 LIMIT 1`, [workspaceId])
    if (rows.length > 0) found.push(`postgres ${name}`)
  }
  for (const name of (await inClickHouse()).filter((one) => one !== ofMigrations)) {
    const [row] = await stores.ch.query<{ rows: number }>(
      `SELECT count() AS rows FROM ${name} WHERE workspace_id = ${workspaceId}`,
    )
    if (row!.rows > 0) found.push(`clickhouse ${name}`)
  }
  return found
}

/**
 * Rows in each place that doesn't refer to the workspace's own row.
 * @param at when the newest of them came, milliseconds since 1970, as `botsAt`
 */
async function fill(workspaceId: number, at = now, botsAt = at): Promise<void> {
  const { pg, ch } = stores
  const moment = `to_timestamp(${at / 1000})`
  const own = { workspace_id: workspaceId, email_hash: workspaceId }
  await insertEventRows(ch, [
    makeEventRow({ ...own, kind: 'conversion', occurred_at: at - 2 * dayMs }),
    makeEventRow({ ...own, occurred_at: at }),
  ])
  await insertBotVisitRows(ch, [makeBotVisitRow({ workspace_id: workspaceId, occurred_at: botsAt })])
  await ch.command(
    `INSERT INTO link_clicks (workspace_id, occurred_at) VALUES (${workspaceId}, fromUnixTimestamp64Milli(${at}))`,
  )
  await foldWhatIsThere(stores)
  await closeDaysAt(stores, now)
  await pg.query(
    `WITH made AS (
       INSERT INTO contacts (workspace_id, email, email_hash, first_identified_at, last_identified_at, first_seen_at, last_seen_at)
       VALUES (${workspaceId}, 'a@example.com', ${workspaceId}, ${at}, ${at}, ${at}, ${at}) RETURNING id),
     fact AS (INSERT INTO identity_facts SELECT ${workspaceId}, 'b', ${at}, ${workspaceId}, id FROM made),
     bound AS (INSERT INTO bindings SELECT ${workspaceId}, 'b', 1, 0, 0, id FROM made),
     seen AS (INSERT INTO contact_sightings (workspace_id, email_hash, first_seen, last_seen) VALUES (${workspaceId}, '\\x00', ${moment}, ${moment})),
     erasure AS (INSERT INTO erasures (workspace_id, browsers) VALUES (${workspaceId}, '[]')),
     work AS (INSERT INTO people_work (workspace_id, hour) VALUES (${workspaceId}, 1))
     INSERT INTO inbox (event_id, workspace_id, event_type, event_name, email, anonymous_id, full_name, properties, source,
       medium, campaign, content, occurred_at, received_at)
     VALUES (${workspaceId}, ${workspaceId}, 'identify', 'identify', 'a@example.com', 'b', '', '{}', '', '', '', '', ${moment}, ${moment})`,
  )
}

/** A credit of a conversion at that time. */
function creditByPerson(workspaceId: number, at: number) {
  return stores.pg.query(
    `INSERT INTO person_credits (event_id, workspace_id, hour, visitor, contact_id, source, medium, touched_at, touched_by)
     SELECT workspace_id, workspace_id, $2::bigint / 3600000, 0, id, 'news', 'email', $2, 0 FROM contacts WHERE workspace_id = $1`,
    [workspaceId, at],
  )
}

/** What the workspace did, and what webhooks were told, with when that was. */
async function fillWork(workspaceId: number, at: number): Promise<void> {
  const moment = `to_timestamp(${at / 1000})`
  await stores.pg.query(
    `WITH endpoint AS (
       INSERT INTO webhook_endpoints (workspace_id, url, events, secret) VALUES (${workspaceId}, 'https://example.com/', '{}', '') RETURNING id),
     told AS (
       INSERT INTO outbox (workspace_id, event_id, type, object, fanned_out_at, created_at)
       VALUES (${workspaceId}, 'evt_${workspaceId}', 'contact.created', '{}', ${moment}, ${moment})),
     delivered AS (
       INSERT INTO webhook_deliveries (workspace_id, webhook_endpoint_id, event_id, event_type, status, created_at)
       SELECT ${workspaceId}, id, 'evt_${workspaceId}', 'contact.created', 'delivered', ${moment} FROM endpoint)
     INSERT INTO idempotency_records (workspace_id, key, fingerprint, status, body, expires_at)
     VALUES (${workspaceId}, 'k', '', 200, '', ${moment} + interval '72 hours')`,
  )
  await stores.pg.query(`UPDATE erasures SET done_at = ${moment} WHERE workspace_id = ${workspaceId}`)
}

/** Places from which rows of a workspace go by themselves, as the page's last table has them. */
async function leaving(): Promise<string[]> {
  const page = readFileSync(new URL('../../docs/retention.md', import.meta.url), 'utf8')
  const lines = page
    .split('## Every place')[1]!
    .split('\n')
    .filter((line) => /^\| (ClickHouse|Postgres) /.test(line))
  const going = lines.filter((line) => !line.split('|')[3]!.trim().startsWith('stay'))
  const named = going.flatMap((line) => {
    const [, place] = line.split('|') as [string, string]
    const store = place.includes('ClickHouse') ? 'clickhouse' : 'postgres'
    return [...place.matchAll(/`(\w+)`/g)].map(([, name]) => `${store} ${name}`)
  })
  // These name no workspace (test/integration/retention.test.ts has those with a time of their own).
  const bare = ['people_state', 'shipped_manifests', 'visitor_salts', 'set_aside_jobs']
  return named.filter((place) => !bare.includes(place.split(' ')[1]!)).sort()
}

test('what is past its time is gone from every place that holds it, and what is not is there', async () => {
  const { pg, ch } = stores
  const make = async (at: number, botsAt = at) => {
    const { workspaceId } = await pg.transaction((tx) =>
      createWorkspace(tx, { name: 'w', timezone: 'UTC', plan: 'starter' }),
    )
    await fill(workspaceId, at, botsAt)
    await fillWork(workspaceId, at)
    return workspaceId
  }
  // Crawlers' visits are kept for longer than the plan's days.
  const old = await make(now - 40 * dayMs, now - 182 * dayMs)
  const young = await make(now - dayMs)
  await pg.query('UPDATE owners SET plan_changed_at = $1', [new Date(now - 200 * dayMs)])
  const places = await leaving()
  const held = async (id: number) => (await placesWith(id)).filter((place) => places.includes(place)).sort()
  while (!(await refreshPeople(workOn(stores), now)));
  for (const [id, at] of [
    [old, now - 40 * dayMs],
    [young, now - dayMs],
  ] as const) {
    await pg.query('INSERT INTO people_work (workspace_id, hour) VALUES ($1, 1)', [id])
    await creditByPerson(id, at)
    expect([id, await held(id)]).toEqual([id, places])
  }
  for (let day = 0; day < 2; day++) {
    const context = {
      ...{ pg, ch, clock: fixedClock(now), log: makeLog('test', 'silent') },
      ...{ metrics: makePipelineMetrics(makeMetrics('test', false)), signal: new AbortController().signal },
    }
    for (const job of Object.values(jobs)) await job(context, {})
    await foldWhatIsThere(stores)
    while (!(await refreshPeople(workOn(stores), now)));
  }
  expect(await held(old)).toEqual([])
  // Its work is done.
  expect(await held(young)).toEqual(places.filter((place) => place !== 'postgres people_work'))
})

test('nothing is left of a removed workspace, and a workspace that Postgres never had is left alone', async () => {
  const { pg, ch } = stores
  const make = () => pg.transaction((tx) => createWorkspace(tx, { name: 'w', timezone: 'UTC', plan: 'growth' }))
  const [kept, removed] = [(await make()).workspaceId, (await make()).workspaceId]
  const unknown = 1_000_000
  for (const id of [kept, removed]) await fill(id)
  while (!(await refreshPeople(workOn(stores), now)));
  // What folds and people would have taken by now.
  for (const id of [kept, removed]) {
    await pg.query('INSERT INTO people_work (workspace_id, hour) VALUES ($1, 1)', [id])
    await pg.query('INSERT INTO event_repairs (workspace_id, hour) VALUES ($1, 1)', [id])
    await creditByPerson(id, now)
  }
  await insertEventRows(ch, [makeEventRow({ workspace_id: unknown, occurred_at: now })])
  const before = await placesWith(kept)
  for (const table of ['members', 'tracking_keys', 'api_keys', 'audit_heads']) {
    await pg.query(`DELETE FROM ${table} WHERE workspace_id = $1`, [removed])
  }
  await pg.query('DELETE FROM workspaces WHERE id = $1', [removed])
  // Rows that refer to their workspace are gone with it; each other place has some.
  const referring = ['members', 'tracking_keys', 'api_keys', 'audit_heads'].map((name) => `postgres ${name}`)
  expect(await placesWith(removed)).toEqual(before.filter((place) => !referring.includes(place)))
  const refers = `EXISTS (SELECT FROM pg_constraint WHERE conrelid = pg_class.oid AND confrelid = 'workspaces'::regclass)`
  const hasColumn = `EXISTS (SELECT FROM pg_attribute WHERE attrelid = pg_class.oid AND attname = 'workspace_id' AND NOT attisdropped)`
  const bare = (
    await inPostgres(
      `${hasColumn} AND NOT ${refers} AND relname NOT IN ('revenue_entries', 'audit_heads', 'audit_events')`,
    )
  ).map((name) => `postgres ${name}`)
  expect(await placesWith(removed)).toEqual(expect.arrayContaining(bare))

  await expireData({
    ...{ pg, ch, clock: fixedClock(now), log: makeLog('test', 'silent') },
    ...{ metrics: makePipelineMetrics(makeMetrics('test', false)), signal: new AbortController().signal },
  })
  expect(await placesWith(removed)).toEqual([])
  expect(await placesWith(kept)).toEqual(before)
  expect(await placesWith(unknown)).toEqual(['clickhouse events'])
})
