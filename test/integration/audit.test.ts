import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Postgres } from '../../postgres/client.ts'
import { migratePostgres } from '../../postgres/migrate.ts'
import {
  type AuditFilter,
  appendAuditEvent,
  listAuditEvents,
  verifyAuditChain,
} from '../../postgres/tables/workspaces/audit.ts'
import type { ActorType } from '../../schemas/resources/audit-event.ts'
import { makeKey, makeWorkspace, setUpApi } from '../support/api.ts'
import { svcOn } from '../support/command-line.ts'
import { patientPostgres } from '../support/patient-clients.ts'
import { makeMedia } from '../support/publishing.ts'

const { stores, api, mine } = setUpApi()

const post = (init: RequestInit = {}, path = '/v1/webhooks') =>
  api.ask(path, {
    method: 'POST',
    key: mine.apiKey,
    body: JSON.stringify({ url: 'https://example.com/hook', description: 'secret words' }),
    ...init,
    headers: { 'Content-Type': 'application/json', 'X-Request-Id': 'request-1', ...init.headers },
  })
const ask = async (query = '') =>
  (await (await api.ask(`/v1/audit-log${query}`, { key: mine.apiKey })).json()) as Record<string, unknown>[]
const verify = (workspaceId = mine.workspaceId) => verifyAuditChain(stores.pg, workspaceId, 10_000)

const event = (workspaceId: number, action: string) => ({
  workspaceId,
  action,
  actorType: 'system' as const,
  actorId: null,
  actorName: 'test',
  interface: 'cli' as const,
  resourceType: 'test',
  resourceId: null,
  requestId: null,
  ipHash: null,
  metadata: { b: 1, a: 'ü' },
})

test('a mutation has one row, which says who did what, and not what was sent', async () => {
  const made = (await (await post()).json()) as { id: number }
  await post({ body: '{}' })
  const rows = await ask()
  expect(rows).toHaveLength(1)
  expect(rows[0]).toMatchObject({
    action: 'webhook_endpoint.create',
    actor_type: 'api_key',
    actor_name: 'all',
    interface: 'rest',
    request_id: 'request-1',
    resource_type: 'webhook_endpoint',
    resource_id: made.id,
    metadata: { fields: ['url', 'description'] },
    previous_hash: '0'.repeat(64),
  })
  expect(rows[0]!['object_id']).toBe(`audit_event_${rows[0]!['id']}`)
  expect(JSON.stringify(rows)).not.toContain('secret words')
})

test('a test of a webhook endpoint names the endpoint, and not the delivery that it answers with', async () => {
  await post()
  const { id } = (await (await post()).json()) as { id: number }
  const delivery = (await (await post({}, `/v1/webhooks/${id}/test`)).json()) as { id: number }
  expect(delivery.id).not.toBe(id)
  const [row] = await ask()
  expect(row).toMatchObject({ action: 'webhook_endpoint.test', resource_type: 'webhook_endpoint', resource_id: id })
})

test('a row names no field that has its default, and which asset a change of the profile’s media was about', async () => {
  const headers = { 'Content-Type': 'application/json' }
  const send = (method: string, path: string, body?: object) =>
    api.ask(path, { method, key: mine.apiKey, headers, ...(body && { body: JSON.stringify(body) }) })
  const media_id = await makeMedia(stores, mine.workspaceId)
  await send('POST', '/v1/links', { label: 'a', destination_url: 'https://example.com/', post_id: null })
  await send('POST', '/v1/company-profile/media', { media_id: `media_${media_id}`, role: 'logo' })
  await send('DELETE', `/v1/company-profile/media/${media_id}`)
  expect((await ask()).map(({ metadata }) => metadata)).toEqual([
    { fields: [], media_id },
    { fields: ['media_id', 'role'], media_id },
    { fields: ['label', 'destination_url', 'post_id'] },
  ])
})

test('a row has a keyed hash of the caller’s own address, as a trusted proxy tells it', async () => {
  const from = (address: string) => post({ headers: { 'X-Forwarded-For': address } })
  for (const address of ['198.51.100.7', '198.51.100.8', '192.0.2.1, 198.51.100.7']) await from(address)
  const [again, other, first] = (await ask()).map(({ ip_hash }) => ip_hash)
  expect(first).toMatch(/^[0-9a-f]{32}$/)
  expect(again).toBe(first)
  expect(other).not.toBe(first)
  expect(JSON.stringify(await ask())).not.toContain('198.51.100')
})

test('the list is narrowed by action and actor', async () => {
  const other = await makeKey(stores, mine.workspaceId)
  for (const key of [mine.apiKey, other.apiKey, mine.apiKey])
    await post({ headers: { Authorization: `Bearer ${key}` } })
  await stores.pg.transaction((tx) => appendAuditEvent(tx, event(mine.workspaceId, 'other.thing')))
  expect(await ask()).toHaveLength(4)
  expect(await ask('?action=other.thing')).toHaveLength(1)
  expect(await ask(`?actor_id=${other.id}`)).toHaveLength(1)
})

describe('the chain', () => {
  test('holds every row of a workspace in its order, however many are written at once', async () => {
    const others = await makeWorkspace(stores)
    await Promise.all(
      Array.from({ length: 60 }, (_, at) =>
        stores.pg.transaction((tx) =>
          appendAuditEvent(tx, event(at % 2 === 0 ? mine.workspaceId : others.workspaceId, `test.n${at}`)),
        ),
      ),
    )
    for (const { workspaceId } of [mine, others]) {
      expect(await verify(workspaceId)).toEqual({ rows: 30, firstBroken: null, isCut: false })
      const rows = (await listAuditEvents(stores.pg, workspaceId, { limit: 100 })).reverse()
      expect(rows.map(({ previous_hash }) => previous_hash)).toEqual([
        '0'.repeat(64),
        ...rows.map(({ hash }) => hash).slice(0, -1),
      ])
    }
  })

  test('`svc audit verify` names the first row that somebody changed or took away all the same', async () => {
    for (let at = 0; at < 5; at++) await post()
    const ids = (await listAuditEvents(stores.pg, mine.workspaceId, { limit: 5 })).map(({ id }) => id).reverse()
    const unguarded = (sql: string, params: unknown[]) =>
      stores.pg.transaction(async (tx) => {
        await tx.query('SET LOCAL session_replication_role = replica')
        await tx.query(sql, params)
      })
    expect(await svcVerify()).toMatchObject({ code: 0, json: { is_intact: true } })
    await unguarded('DELETE FROM audit_events WHERE id = $1', [ids[4]])
    expect(await svcVerify()).toMatchObject({
      code: 1,
      json: { chains: [{ rows: 4, first_broken: null, is_cut: true }] },
    })
    await unguarded(`UPDATE audit_events SET metadata = '{"fields": []}' WHERE id = $1`, [ids[3]])
    expect(await svcVerify()).toMatchObject({ code: 1, json: { chains: [{ first_broken: ids[3] }] } })
    await unguarded('DELETE FROM audit_events WHERE id = $1', [ids[1]])
    expect(await svcVerify()).toMatchObject({ code: 1, json: { chains: [{ rows: 3, first_broken: ids[2] }] } })
  })
})

const svcVerify = () => svcOn(stores, 'audit', 'verify', '--workspace', String(mine.workspaceId))

test('an action, an actor, a kind of actor and several of them are found without reading what is not shown', async () => {
  const others = 2_000
  const append = (action: string, type: ActorType, actor: number, times: number) =>
    stores.pg.query(
      `SELECT append_audit_event($1, $2, $3, $4, 'a', 'rest', 'thing', n, NULL, NULL, '{}')
       FROM generate_series(1, $5::int) AS n`,
      [mine.workspaceId, action, type, actor, times],
    )
  await append('rare.thing', 'user', 7, 3)
  await append('common.thing', 'api_key', 8, others)
  await stores.pg.query('ANALYZE audit_events')
  const rare: Partial<AuditFilter>[] = [
    { action: 'rare.thing' },
    { actorId: 7 },
    { actorId: 7, action: 'rare.thing' },
    { actorId: 7, actorType: 'user' },
    { actorType: 'user' },
  ]
  for (const filter of rare) {
    const [found, rowsRead] = await stores.pg.transaction(async (tx) => {
      const events = await listAuditEvents(tx, mine.workspaceId, { limit: 100, ...filter })
      const [row] = await tx.query<{ rows: number }>(
        `SELECT seq_tup_read + coalesce(idx_tup_fetch, 0) AS rows FROM pg_stat_xact_user_tables
         WHERE relname = 'audit_events'`,
      )
      return [events, row!.rows] as const
    })
    expect(found.map(({ action, actor_id }) => [action, actor_id])).toEqual(Array(3).fill(['rare.thing', 7]))
    expect(rowsRead, JSON.stringify(filter)).toBeLessThan(others / 10)
  }
  // An owner may have the number of a key.
  const ofKey = { limit: 1, actorId: 7, actorType: 'api_key' } as const
  expect(await listAuditEvents(stores.pg, mine.workspaceId, ofKey)).toEqual([])
})

describe('nobody who has the product’s own role, which owns its database and is no superuser, changes a row', () => {
  const name = `app_${randomBytes(6).toString('hex')}`
  let pg: Postgres
  let workspaceId: number
  beforeAll(async () => {
    await stores.pg.query(`CREATE ROLE ${name} LOGIN PASSWORD '${name}'`)
    await stores.pg.query(`CREATE DATABASE ${name} OWNER ${name}`, [], { deadlineMs: 60_000 })
    const url = new URL(stores.databaseUrl)
    Object.assign(url, { username: name, password: name, pathname: `/${name}` })
    pg = patientPostgres(url.href)
    await migratePostgres(pg)
    workspaceId = (await makeWorkspace({ pg })).workspaceId
    for (let at = 0; at < 3; at++) {
      await pg.transaction((tx) => appendAuditEvent(tx, { ...event(workspaceId, 'test.done'), resourceId: at }))
    }
  })
  afterAll(async () => {
    await pg?.close()
    await stores?.pg.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
    await stores?.pg.query(`DROP ROLE IF EXISTS ${name}`)
  })
  const rows = () => pg.query('SELECT * FROM audit_events ORDER BY id')
  const verifyTheirs = () => verifyAuditChain(pg, workspaceId, 10_000)

  test.each([
    "UPDATE audit_events SET action = 'x'",
    `INSERT INTO audit_events SELECT * FROM audit_events WHERE id = 1 ON CONFLICT (id) DO UPDATE SET action = 'x'`,
    `MERGE INTO audit_events a USING (SELECT 1 AS id) b ON a.id = b.id WHEN MATCHED THEN UPDATE SET action = 'x'`,
    'DELETE FROM audit_events WHERE id = 2',
    'MERGE INTO audit_events a USING (SELECT 1 AS id) b ON a.id = b.id WHEN MATCHED THEN DELETE',
    'TRUNCATE audit_events RESTART IDENTITY CASCADE',
    'TRUNCATE audit_heads, outbox CASCADE',
    'DELETE FROM audit_heads',
  ])('%s is refused, and changes nothing', async (sql) => {
    const before = await rows()
    expect(before).toHaveLength(3)
    await expect(pg.query(sql)).rejects.toThrow('audit events can not be changed or deleted')
    // Not in the company of what is allowed, either.
    await expect(
      pg.transaction(async (tx) => {
        await tx.query("UPDATE workspaces SET name = 'x'")
        await tx.query(sql)
      }),
    ).rejects.toThrow('audit events can not be changed or deleted')
    expect(await rows()).toEqual(before)
    expect(await verifyTheirs()).toEqual({ rows: 3, firstBroken: null, isCut: false })
  })

  test('the role can’t turn triggers off for itself', async () => {
    await expect(pg.query('SET session_replication_role = replica')).rejects.toThrow('permission denied')
  })

  test('a row that is slipped in beside the chain is named', async () => {
    await pg.query(
      `INSERT INTO audit_events SELECT 4, workspace_id, action, actor_type, actor_id, actor_name, interface, resource_type, resource_id,
         request_id, ip_hash, metadata, created_at, previous_hash, hash FROM audit_events WHERE id = 3`,
    )
    expect(await verifyTheirs()).toEqual({ rows: 4, firstBroken: 4, isCut: true })
  })
})
