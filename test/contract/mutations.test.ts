/** The promises of every mutation: once a key, one audit row, all of it or nothing. */
import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Operation } from '../../api/operations/define.ts'
import { operations } from '../../api/operations/registry.ts'
import { verifyAuditChain } from '../../postgres/tables/workspaces/audit.ts'
import { readConfig } from '../../runtime/config.ts'
import { makeWorkspace, setUpApi, type TestWorkspace } from '../support/api.ts'
import {
  type Asker,
  exampleBody,
  filledPath,
  goodBody,
  type Made,
  madePath,
  takesForm,
} from '../support/api-requests.ts'
import { formOf, formType, jpeg } from '../support/media-files.ts'

const { stores, api, mine } = setUpApi()
let others: TestWorkspace
/** A line for each table: its name, and a hash of all that it holds. */
let hashesOfTables: string
beforeAll(async () => {
  await stores.pg.query(`
    CREATE FUNCTION fail_for_a_test() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      RAISE EXCEPTION 'this row can not be written' USING ERRCODE = 'data_exception';
    END $$;
    CREATE TRIGGER failing BEFORE INSERT ON audit_events FOR EACH ROW
      WHEN (NEW.request_id = 'fail-the-audit') EXECUTE FUNCTION fail_for_a_test();
  `)
  // Without `last_used_at` of keys, which is written by itself.
  const tables = await stores.pg.query<{ name: string }>(
    `SELECT table_name AS name FROM information_schema.tables
     WHERE table_schema = 'public' AND table_type = 'BASE TABLE' AND table_name <> 'api_keys'`,
  )
  hashesOfTables = tables
    .map(
      ({ name }) => `SELECT '${name}' AS name, md5(string_agg(t::text, '|' ORDER BY t::text)) AS hash FROM "${name}" t`,
    )
    .join(' UNION ALL ')
  others = await makeWorkspace(stores, { timezone: 'Asia/Tokyo' })
})

const asker = ({ workspaceId, apiKey }: TestWorkspace): Asker => ({ api, stores, workspaceId, key: apiKey })
type Values = Readonly<Made>

interface Sent {
  readonly from?: TestWorkspace
  readonly init?: RequestInit
  readonly requestId?: string
}

async function send(
  operation: Operation,
  values: Values,
  idempotencyKey: string | undefined,
  { from = mine, init = goodBody(operation, values), requestId }: Sent = {},
) {
  const headers = new Headers(init.headers)
  if (idempotencyKey !== undefined) headers.set('Idempotency-Key', idempotencyKey)
  if (requestId !== undefined) headers.set('X-Request-Id', requestId)
  const { method } = operation.http
  const path = filledPath(operation, values)
  const response = await api.ask(path, { method, key: from.apiKey, ...init, headers: Object.fromEntries(headers) })
  const body = await response.text()
  return { status: response.status, body, replayed: response.headers.get('idempotent-replayed') }
}

const reused = { status: 409, body: '{"detail":"Idempotency-Key was used with a different request"}', replayed: null }

/** How many audit rows and messages to webhooks the workspace has. */
async function counts({ workspaceId } = mine): Promise<{ audits: number; told: number; records: number }> {
  const [row] = await stores.pg.query<{ audits: number; told: number; records: number }>(
    `SELECT (SELECT count(*) FROM audit_events WHERE workspace_id = $1) AS audits,
       (SELECT count(*) FROM outbox WHERE workspace_id = $1) AS told,
       (SELECT count(*) FROM idempotency_records WHERE workspace_id = $1) AS records`,
    [workspaceId],
  )
  return row!
}

/** All that the database holds. */
const everything = () => stores.pg.query(`${hashesOfTables} ORDER BY name`)

/** Makes the workspace's records so many minutes older. */
async function agedBy(minutes: number): Promise<void> {
  await stores.pg.query(
    `UPDATE idempotency_records SET expires_at = expires_at - $2 * interval '1 minute' WHERE workspace_id = $1`,
    [mine.workspaceId, minutes],
  )
}

/** A good body that differs in one member, or in one byte of its file; undefined for what takes none. */
function otherBody(operation: Operation, values: Values): RequestInit | undefined {
  if (takesForm(operation)) return formWith('b')
  const member = Object.entries(exampleBody(operation) ?? {}).find(
    // A role is one of a closed set.
    ([name, value]) => typeof value === 'string' && name !== 'role',
  )
  if (member === undefined) return undefined
  const [name, value] = member as [string, string]
  const isTime = /^\d{4}-\d\d-\d\d(T|$)/.test(value)
  return goodBody(operation, values, {
    [name]: isTime ? value.replace(/^\d{4}/, (year) => String(Number(year) + 1)) : `${value}2`,
  })
}

/** Pictures that have one byte for themselves. */
function formWith(byte: string): RequestInit {
  const value = jpeg({ behind: Buffer.from(byte) })
  const body = new Blob([formOf({ name: 'file', filename: 'a.jpg', value })])
  return { headers: { 'Content-Type': formType }, body }
}
const firstBody = (operation: Operation, values: Values) =>
  takesForm(operation) ? formWith('a') : goodBody(operation, values)

const mutations = operations.filter(({ effect }) => effect !== 'read')

test('a record is kept for 72 hours', () => {
  expect(readConfig({}).idempotencyHours).toBe(72)
})

describe.each(mutations.map((operation) => [operation.name, operation] as const))('%s', (_, operation) => {
  test('has one audit row, and so has a repeat without a key; for 72 hours a replay is the same answer and has none; a key is of one workspace', async () => {
    const values = await madePath(operation, asker(mine))
    const before = await counts()
    const key = randomUUID()
    const first = await send(operation, values, key)
    expect([first.status, first.replayed]).toEqual([200, null])
    const once = {
      audits: before.audits + 1,
      told: before.told + (operation.emits ? 1 : 0),
      records: before.records + 1,
    }
    expect(await counts()).toEqual(once)
    for (let at = 0; at < 2; at++) expect(await send(operation, values, key)).toEqual({ ...first, replayed: 'true' })
    expect(await counts()).toEqual(once)

    const theirs = await send(operation, await madePath(operation, asker(others)), key, { from: others })
    expect([theirs.status, theirs.replayed]).toEqual([200, null])
    // Equal rules look alike: their answer names no workspace.
    if (operation.name !== 'exclusions.update') expect(theirs.body).not.toBe(first.body)

    const again = await send(operation, await madePath(operation, asker(mine)), undefined)
    expect([again.status, again.replayed]).toEqual([200, null])
    const [last] = await stores.pg.query(
      'SELECT action, resource_id FROM audit_events WHERE workspace_id = $1 ORDER BY id DESC LIMIT 1',
      [mine.workspaceId],
    )
    const ids = JSON.parse(again.body) as Record<string, number | undefined>
    const resourceId = ids[operation.name === 'webhook_endpoint.test' ? 'webhook_endpoint_id' : 'id'] ?? null
    expect(last).toEqual({ action: operation.name, resource_id: resourceId })
    const verdict = await verifyAuditChain(stores.pg, mine.workspaceId, 10_000)
    expect(verdict).toMatchObject({ firstBroken: null, isCut: false })

    await agedBy(72 * 60 - 1)
    expect(await send(operation, values, key)).toEqual({ ...first, replayed: 'true' })
    await agedBy(1)
    expect((await send(operation, values, key)).replayed).toBeNull()
  })

  test('leaves nothing when its audit row can’t be written, and is done under the same key after that; under this key another body, another object and another operation are 409, and do nothing', async () => {
    const values = await madePath(operation, asker(mine))
    const init = firstBody(operation, values)
    const before = await everything()
    for (const key of [undefined, 'again']) {
      const failed = await send(operation, values, key, { init, requestId: 'fail-the-audit' })
      expect([failed.status, failed.body]).toEqual([500, '{"detail":"Internal Server Error"}'])
    }
    expect(await everything()).toEqual(before)
    expect((await send(operation, values, 'again', { init })).status).toBe(200)

    const another = await madePath(operation, asker(mine))
    const next = mutations[(mutations.indexOf(operation) + 1) % mutations.length]!
    const nexts = await madePath(next, asker(mine))
    const done = await everything()
    expect(done).not.toEqual(before)
    const changed = otherBody(operation, values)
    if (changed !== undefined) expect(await send(operation, values, 'again', { init: changed })).toEqual(reused)
    if (Object.keys(values).length > 0)
      expect(await send(operation, another, 'again', { init: firstBody(operation, another) })).toEqual(reused)
    expect(await send(next, nexts, 'again')).toEqual(reused)
    expect(await everything()).toEqual(done)
  })
})
