import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { deleteExpiredIdempotencyRecords } from '../../postgres/tables/idempotency.ts'
import { makeKey, makeWorkspace, setUpApi } from '../support/api.ts'

const { stores, api, mine } = setUpApi()

const valid = { url: 'https://example.com/hook' }

function post(body: unknown, idempotencyKey?: string, key = mine.apiKey): Promise<Response> {
  const header = idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey }
  return api.ask('/v1/webhooks', {
    method: 'POST',
    key,
    headers: { 'Content-Type': 'application/json', ...header },
    body: JSON.stringify(body),
  })
}

async function counts() {
  const [row] = await stores.pg.query<{ endpoints: number; audits: number; records: number }>(
    `SELECT (SELECT count(*) FROM webhook_endpoints WHERE workspace_id = $1) AS endpoints,
       (SELECT count(*) FROM audit_events WHERE workspace_id = $1) AS audits,
       (SELECT count(*) FROM idempotency_records WHERE workspace_id = $1) AS records`,
    [mine.workspaceId],
  )
  return row!
}

describe('the same request under the same key', () => {
  test('is done once, and answered as the first time, whatever the order of its members and the API key', async () => {
    const key = randomUUID()
    const first = await post({ ...valid, description: 'a' }, key)
    const body = await first.text()
    expect([first.status, first.headers.get('idempotent-replayed')]).toEqual([200, null])
    const other = await makeKey(stores, mine.workspaceId)
    for (const apiKey of [mine.apiKey, other.apiKey]) {
      const again = await post({ description: 'a', ...valid }, key, apiKey)
      expect([again.status, again.headers.get('idempotent-replayed'), await again.text()]).toEqual([200, 'true', body])
    }
    expect(await counts()).toEqual({ endpoints: 1, audits: 1, records: 1 })
  })

  test('sent a hundred times at once is done once: the others are replays, or 409 until it is done', async () => {
    const key = randomUUID()
    const answers = await Promise.all(Array.from({ length: 100 }, () => post(valid, key)))
    const bodies = await Promise.all(
      answers.map((answer) => answer.json() as Promise<{ id?: number; detail?: string }>),
    )
    const done = bodies.filter((_, at) => answers[at]!.status === 200)
    expect(new Set(done.map(({ id }) => id)).size).toBe(1)
    expect(
      answers.filter(({ status, headers }) => status === 200 && headers.get('idempotent-replayed') === null).length,
    ).toBe(1)
    for (const [at, answer] of answers.entries()) {
      if (answer.status === 200) continue
      expect([answer.status, answer.headers.get('retry-after'), bodies[at]]).toEqual([
        409,
        '1',
        { detail: 'A request with this Idempotency-Key is still in progress' },
      ])
    }
    expect((await post(valid, key)).headers.get('idempotent-replayed')).toBe('true')
    expect(await counts()).toEqual({ endpoints: 1, audits: 1, records: 1 })
  })

  test('in another workspace is another request', async () => {
    const key = randomUUID()
    const others = await makeWorkspace(stores)
    const [here, there] = [await post(valid, key), await post(valid, key, others.apiKey)]
    expect([here, there].map(({ status, headers }) => [status, headers.get('idempotent-replayed')])).toEqual([
      [200, null],
      [200, null],
    ])
  })

  test('is done anew after its time', async () => {
    const key = randomUUID()
    await post(valid, key)
    await stores.pg.query(
      `UPDATE idempotency_records SET expires_at = now() - interval '1 second' WHERE workspace_id = $1`,
      [mine.workspaceId],
    )
    expect((await post({ ...valid, description: 'other' }, key)).status).toBe(200)
    expect(await counts()).toEqual({ endpoints: 2, audits: 2, records: 1 })
    await stores.pg.query(
      `UPDATE idempotency_records SET expires_at = now() - interval '1 second' WHERE workspace_id = $1`,
      [mine.workspaceId],
    )
    expect(await deleteExpiredIdempotencyRecords(stores.pg, 1000)).toBeGreaterThan(0)
    expect(await counts()).toMatchObject({ records: 0 })
  })
})

test('another request under the same key is 409, and does nothing', async () => {
  const key = randomUUID()
  await post(valid, key)
  for (const body of [
    { ...valid, description: 'x' },
    { ...valid, more: 1 },
  ]) {
    const answer = await post(body, key)
    expect([answer.status, await answer.json()]).toEqual([
      409,
      { detail: 'Idempotency-Key was used with a different request' },
    ])
  }
  const deleted = await api.ask('/v1/webhooks/1', {
    method: 'DELETE',
    key: mine.apiKey,
    headers: { 'Idempotency-Key': key },
  })
  expect(deleted.status).toBe(409)
  expect(await counts()).toEqual({ endpoints: 1, audits: 1, records: 1 })
})

test('refusals of the operation itself are kept, those before it are not', async () => {
  const key = randomUUID()
  const gone = () =>
    api.ask('/v1/webhooks/999999', { method: 'DELETE', key: mine.apiKey, headers: { 'Idempotency-Key': key } })
  const first = await gone()
  expect([first.status, first.headers.get('idempotent-replayed')]).toEqual([404, null])
  const again = await gone()
  expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([404, 'true'])
  expect(await again.json()).toEqual(await first.json())
  expect(await counts()).toEqual({ endpoints: 0, audits: 0, records: 1 })

  const invalid = randomUUID()
  expect((await post({}, invalid)).status).toBe(422)
  expect((await post(valid, invalid)).status).toBe(200)
})

test.each([
  ['', 'string_too_short'],
  ['x'.repeat(256), 'string_too_long'],
  ['a\tb', 'string_pattern_mismatch'],
])('the key %s is 422 %s', async (idempotencyKey, type) => {
  const answer = await post(valid, idempotencyKey)
  expect(answer.status).toBe(422)
  expect(await answer.json()).toMatchObject({ detail: [{ type, loc: ['header', 'idempotency-key'] }] })
  expect(await counts()).toMatchObject({ endpoints: 0 })
})

test('stored answers can not be read from a copy of the database', async () => {
  const { secret } = (await (await post(valid, randomUUID())).json()) as { secret: string }
  const rows = await stores.pg.query<{ body: Buffer; secret: Buffer }>(
    'SELECT body, (SELECT secret FROM webhook_endpoints WHERE workspace_id = $1) FROM idempotency_records WHERE workspace_id = $1',
    [mine.workspaceId],
  )
  for (const { body, secret: stored } of rows) {
    for (const bytes of [body, stored]) {
      expect(bytes.includes(secret)).toBe(false)
      expect(bytes.includes(secret.slice('whsec_'.length, 20))).toBe(false)
    }
  }
  expect(rows).toHaveLength(1)
})
