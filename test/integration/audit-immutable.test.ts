/** That nobody who has the product's own role changes an audit row: one that owns its database, and is no superuser. */
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { connectPostgres, type Postgres } from '../../postgres/client.ts'
import { migratePostgres } from '../../postgres/migrate.ts'
import { appendAuditEvent, verifyAuditChain } from '../../postgres/tables/audit.ts'
import { makeWorkspace, type TestWorkspace } from '../support/api.ts'
import { setUpStores } from '../support/stores.ts'

const name = `app_${randomBytes(6).toString('hex')}`

const stores = setUpStores()
let pg: Postgres
let mine: TestWorkspace
beforeAll(async () => {
  await stores.pg.query(`CREATE ROLE ${name} LOGIN PASSWORD '${name}'`)
  await stores.pg.query(`CREATE DATABASE ${name} OWNER ${name}`, [], { deadlineMs: 60_000 })
  const url = new URL(stores.databaseUrl)
  Object.assign(url, { username: name, password: name, pathname: `/${name}` })
  pg = connectPostgres(url.href)
  await migratePostgres(pg)
  mine = await makeWorkspace({ pg })
  for (let at = 0; at < 3; at++) {
    await pg.transaction((tx) =>
      appendAuditEvent(tx, {
        ...{
          workspaceId: mine.workspaceId,
          action: 'test.done',
          actorType: 'system',
          actorId: null,
          actorName: 'test',
        },
        ...{ interface: 'cli', resourceType: 'test', resourceId: at, requestId: null, ipHash: null, metadata: { at } },
      }),
    )
  }
})
afterAll(async () => {
  await pg?.close()
  await stores?.pg.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
  await stores?.pg.query(`DROP ROLE IF EXISTS ${name}`)
})

const rows = () => pg.query('SELECT * FROM audit_events ORDER BY id')
const verify = () => verifyAuditChain(pg, mine.workspaceId, 10_000)

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
  expect(await verify()).toEqual({ rows: 3, firstBroken: null, isCut: false })
})

test('the role can’t turn triggers off for itself', async () => {
  await expect(pg.query('SET session_replication_role = replica')).rejects.toThrow('permission denied')
})

test('a row that is slipped in beside the chain is named', async () => {
  await pg.query(
    `INSERT INTO audit_events SELECT 4, workspace_id, action, actor_type, actor_id, actor_name, interface, resource_type, resource_id,
       request_id, ip_hash, metadata, created_at, previous_hash, hash FROM audit_events WHERE id = 3`,
  )
  expect(await verify()).toEqual({ rows: 4, firstBroken: 4, isCut: true })
})
