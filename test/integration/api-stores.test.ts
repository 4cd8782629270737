import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type ClickHouse, connectClickHouse } from '../../clickhouse/client.ts'
import { connectPostgres, type Postgres } from '../../postgres/client.ts'
import { settings } from '../../runtime/settings.ts'
import { postgresShareOfAnswer, retryAfterSeconds } from '../../schemas/limits/store-limits.ts'
import { makeKey, makeWorkspace, startApi, type TestApi, type TestWorkspace } from '../support/api.ts'
import { setUpStores } from '../support/stores.ts'
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts'

const stores = setUpStores()
const answerDeadlineMs = settings.answerDeadlineMs.read(undefined)
let toPostgres: TcpProxy
let toClickHouse: TcpProxy
let pg: Postgres
let ch: ClickHouse
let api: TestApi
let mine: TestWorkspace
beforeAll(async () => {
  toPostgres = await startTcpProxy(stores.databaseUrl)
  toClickHouse = await startTcpProxy(stores.clickhouseUrl)
  // As the API's process connects.
  pg = connectPostgres(toPostgres.url, { deadlineMs: answerDeadlineMs * postgresShareOfAnswer })
  ch = connectClickHouse(toClickHouse.url)
  api = await startApi({ ...stores, pg, ch }, { answerDeadlineMs })
  mine = await makeWorkspace(stores)
})
afterAll(async () => {
  await api.close()
  await Promise.all([toPostgres.close(), toClickHouse.close()])
  await Promise.all([pg.close(), ch.close()])
})
beforeEach(() => Promise.all([toPostgres.set('open'), toClickHouse.set('open')]))

/** A key that the API hasn't seen yet. */
const newKey = async () => (await makeKey(stores, mine.workspaceId)).apiKey
/** Nobody waits longer, whatever is asked: the key, known or not, is looked up first. */
const hangMs = answerDeadlineMs

async function expectAway(response: Response): Promise<void> {
  expect(response.status).toBe(503)
  expect(response.headers.get('retry-after')).toBe(String(retryAfterSeconds))
  expect(await response.json()).toEqual({ detail: expect.stringMatching(/temporarily unavailable/) })
}

describe.each(['refusing', 'hanging'] as const)('a store that is %s', (mode) => {
  test('Postgres: a mutation is 503, and a retry with the same key after that is done once', async () => {
    const { apiKey, workspaceId } = await makeWorkspace(stores)
    const create = () =>
      api.ask('/v1/webhooks', {
        method: 'POST',
        key: apiKey,
        headers: { 'Content-Type': 'application/json', 'Idempotency-Key': `outage ${mode}` },
        body: JSON.stringify({ url: 'https://example.com/hook' }),
      })
    await toPostgres.set(mode)
    const startedAt = performance.now()
    await expectAway(await create())
    expect(performance.now() - startedAt).toBeLessThan(hangMs)
    await toPostgres.set('open')
    await expect.poll(async () => (await create()).status).toBe(200)
    expect((await create()).headers.get('idempotent-replayed')).toBe('true')
    const rows = await stores.pg.query('SELECT id FROM webhook_endpoints WHERE workspace_id = $1', [workspaceId])
    expect(rows).toHaveLength(1)
  }, 60_000)

  test('Postgres: every operation is 503 with Retry-After within its deadline, and recovers by itself', async () => {
    const apiKey = await newKey()
    await toPostgres.set(mode)
    for (const path of ['/v1/workspace', '/v1/analytics/overview']) {
      const startedAt = performance.now()
      await expectAway(await api.ask(path, { key: apiKey }))
      expect(performance.now() - startedAt).toBeLessThan(hangMs)
    }
    await toPostgres.set('open')
    await expect.poll(async () => (await api.ask('/v1/workspace', { key: apiKey })).status).toBe(200)
  }, 90_000)

  test('ClickHouse: analytics are 503, the rest goes on, and it recovers by itself', async () => {
    const apiKey = await newKey()
    for (const path of [
      '/v1/analytics/overview',
      '/v1/analytics/breakdown?by=os',
      '/v1/analytics/events',
      '/v1/analytics/funnel?step=path:/&step=event:signup',
      '/v1/analytics/bots',
      '/v1/analytics/conversions',
    ]) {
      await toClickHouse.set(mode)
      const startedAt = performance.now()
      await expectAway(await api.ask(path, { key: apiKey }))
      expect(performance.now() - startedAt).toBeLessThan(hangMs)
    }
    expect((await api.ask('/v1/workspace', { key: apiKey })).status).toBe(200)
    await toClickHouse.set('open')
    await expect.poll(async () => (await api.ask('/v1/analytics/overview', { key: apiKey })).status).toBe(200)
  }, 90_000)

  test('ClickHouse: a link is shown without its clicks, and with them once it is back', async () => {
    const { apiKey } = await makeWorkspace(stores)
    const created = await api.ask('/v1/links', {
      method: 'POST',
      key: apiKey,
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ label: 'a', destination_url: 'https://example.com/' }),
    })
    const { id } = (await created.json()) as { id: number }
    const shown = async () => {
      const answer = await api.ask(`/v1/links/${id}`, { key: apiKey })
      return [answer.status, await answer.json()]
    }
    await toClickHouse.set(mode)
    expect(await shown()).toEqual([200, expect.objectContaining({ id, click_counts: null })])
    await toClickHouse.set('open')
    const counted = expect.objectContaining({ click_counts: expect.objectContaining({ clicks: 0 }) })
    await expect.poll(shown).toEqual([200, counted])
  }, 90_000)
})

test('a bad key needs no store to be refused', async () => {
  await toPostgres.set('refusing')
  expect((await api.ask('/v1/workspace', { key: 'svc_sk_nothing' })).status).toBe(401)
  expect((await api.ask('/v1/nothing')).status).toBe(404)
})

test('health says which store is away, without its address, and lives on', async () => {
  expect(await (await api.ask('/health')).json()).toEqual({
    status: 'ok',
    stores: { postgres: 'ok', clickhouse: 'ok' },
  })
  await toClickHouse.set('refusing')
  const response = await api.ask('/health')
  expect(response.status).toBe(200)
  expect(await response.json()).toEqual({
    status: 'degraded',
    stores: { postgres: 'ok', clickhouse: 'unreachable' },
  })
})

test('metrics count requests by operation and status, unknown paths under one label', async () => {
  await api.ask('/v1/workspace', { key: mine.apiKey })
  await api.ask('/v1/workspace', { key: 'x' })
  await api.ask('/v1/a-path-of-the-caller')
  const response = await api.ask('/metrics')
  const text = await response.text()
  expect(response.headers.get('content-type')).toContain('text/plain')
  expect(text).toMatch(/svc_api_requests_total\{operation="workspace.get",status="200",service="test"\} \d+/)
  expect(text).toMatch(/svc_api_requests_total\{operation="workspace.get",status="401",service="test"\} \d+/)
  expect(text).toMatch(/svc_api_requests_total\{operation="none",status="404",service="test"\} \d+/)
  expect(text).toMatch(/svc_api_request_seconds_bucket\{le="5",service="test",operation="workspace.get"\} \d+/)
  expect(text).not.toContain('a-path-of-the-caller')
})
