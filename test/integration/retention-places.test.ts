/**
 * Every place that holds data has a line in docs/retention.md. Expired data, and the rest of a removed workspace, go
 * from all of these places.
 */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { refreshPeople } from '../../pipeline/people/refresh.ts'
import { jobs } from '../../pipeline/queue/jobs.ts'
import { expireData } from '../../pipeline/retention/expire-data.ts'
import { createWorkspace } from '../../postgres/tables/workspaces/workspaces.ts'
import { insertEventRows, makeEventRow } from '../support/event-rows.ts'
import { foldWhatIsThere, workOn } from '../support/fold.ts'
import { jobContext } from '../support/job-context.ts'
import { setUpStores } from '../support/stores.ts'
import { ofMigrations, workspacePlaces } from '../support/workspace-places.ts'

const dayMs = 86_400_000
const now = Date.now()

const stores = setUpStores()
const { fillWaiting, placesWith, fill, fillWork, creditByPerson, inPostgres, inClickHouse } = workspacePlaces(stores)

/** Rows of the page's last table: stores and tables, and whether rows of a workspace go by themselves. */
function listed(): { store: string; table: string; isLeaving: boolean }[] {
  const page = readFileSync(new URL('../../docs/retention.md', import.meta.url), 'utf8')
  const lines = page.split('## Every place')[1]!.split('\n')
  return lines.flatMap((line) => {
    const [, store] = /^\| (ClickHouse|Postgres) /.exec(line) ?? []
    if (store === undefined) return []
    const [, place, , left] = line.split('|')
    const isLeaving = !left!.trim().startsWith('stay')
    return [...place!.matchAll(/`(\w+)`/g)].map(([, table]) => ({ store, table: table!, isLeaving }))
  })
}

test('the page names every table of both stores, each once', async () => {
  const isOwn = (name: string) => name !== ofMigrations
  const namesOf = (asked: string) => listed().flatMap(({ store, table }) => (store === asked ? [table] : []))
  expect(namesOf('Postgres').sort()).toEqual((await inPostgres()).filter(isOwn))
  expect(namesOf('ClickHouse').sort()).toEqual((await inClickHouse()).filter(isOwn))
})

/** Places from which rows of a workspace go by themselves. */
function leaving(): string[] {
  // These name no workspace or have a time of their own, which retention.test.ts, oauth.test.ts and sign-in-accounts.test.ts hold.
  const bare = [
    'connected_apps',
    'oauth_clients',
    'account_sign_ins',
    'people_state',
    'shipped_manifests',
    'visitor_salts',
    'set_aside_jobs',
  ]
  const going = listed().filter(({ table, isLeaving }) => isLeaving && !bare.includes(table))
  return going.map(({ store, table }) => `${store.toLowerCase()} ${table}`).sort()
}

test('what is past its time is gone from every place that holds it, and what is not is there', async () => {
  const { pg } = stores
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
  const places = leaving()
  const held = async (id: number) => (await placesWith(id)).filter((place) => places.includes(place)).sort()
  while (!(await refreshPeople(workOn(stores), now)));
  // A contact may be deleted while its work waits.
  await pg.query('INSERT INTO people_work (workspace_id, contact_id) VALUES ($1, 1000000)', [young])
  while (!(await refreshPeople(workOn(stores), now)));
  for (const [id, at] of [
    [old, now - 40 * dayMs],
    [young, now - dayMs],
  ] as const) {
    await fillWaiting(id)
    await creditByPerson(id, at)
    expect([id, await held(id)]).toEqual([id, places])
  }
  for (let day = 0; day < 2; day++) {
    for (const job of Object.values(jobs)) await job(jobContext(stores, now))
    await foldWhatIsThere(stores)
    while (!(await refreshPeople(workOn(stores), now)));
  }
  expect(await held(old)).toEqual([])
  // Its work is done.
  expect(await held(young)).toEqual(places.filter((place) => !/ (people_work|untold_merges)$/.test(place)))
})

test('nothing is left of a removed workspace, and a workspace that Postgres never had is left alone', async () => {
  const { pg, ch } = stores
  const make = () => pg.transaction((tx) => createWorkspace(tx, { name: 'w', timezone: 'UTC', plan: 'growth' }))
  const [kept, removed] = [(await make()).workspaceId, (await make()).workspaceId]
  const unknown = 1_000_000
  for (const id of [kept, removed]) await fill(id)
  while (!(await refreshPeople(workOn(stores), now)));
  // Folds and people would have taken these by now.
  for (const id of [kept, removed]) {
    await fillWaiting(id)
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
      `${hasColumn} AND NOT ${refers} AND relname NOT IN ('revenue_entries', 'audit_heads', 'audit_events', 'workspace_deletions')`,
    )
  ).map((name) => `postgres ${name}`)
  expect(await placesWith(removed)).toEqual(expect.arrayContaining(bare))

  await expireData(jobContext(stores, now))
  expect(await placesWith(removed)).toEqual([])
  expect(await placesWith(kept)).toEqual(before)
  expect(await placesWith(unknown)).toEqual(['clickhouse events'])
})
