import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type ClickHouse, connectClickHouse } from '../../clickhouse/client.ts'
import { connectPostgres, type Postgres } from '../../postgres/client.ts'
import { settings } from '../../runtime/settings.ts'
import {
  clickhousePulseShareOfAnswer,
  postgresShareOfAnswer,
  retryAfterSeconds,
} from '../../schemas/limits/store-limits.ts'
import { answerFault } from '../support/answer-fault.ts'
import { makeKey, makeWorkspace, startApi, type TestApi, type TestWorkspace } from '../support/api.ts'
import { shownOf } from '../support/api-requests.ts'
import { makeLink } from '../support/publishing.ts'
import { isLong } from '../support/short-form.ts'
import { setUpStores } from '../support/stores.ts'
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts'

const stores = setUpStores()
/** Nobody waits longer, whatever is asked: the key, known or not, is looked up first. Judged in the long form. */
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
  ch = connectClickHouse(toClickHouse.url, answerDeadlineMs * clickhousePulseShareOfAnswer)
  api = await startApi({ ...stores, pg, ch }, { answerDeadlineMs })
  mine = await makeWorkspace(stores)
})
afterAll(async () => {
  await api.close()
  await Promise.all([toPostgres.close(), toClickHouse.close()])
  await Promise.all([pg.close(), ch.close()])
})
beforeEach(() => Promise.all([toPostgres.set('open'), toClickHouse.set('open')]))

/** @returns what the answer says */
async function expectAway(asking: Promise<Response>): Promise<string> {
  const startedAt = performance.now()
  const response = await asking
  expect(performance.now() - startedAt).toBeLessThan(isLong ? answerDeadlineMs : 60_000)
  expect(response.status).toBe(503)
  // The document says the same of every operation's.
  const shown = shownOf({ http: { method: 'GET', path: '/v1/workspace' } })
  expect(await answerFault(response.clone(), shown)).toBeUndefined()
  expect(response.headers.get('retry-after')).toBe(String(retryAfterSeconds))
  const body = (await response.json()) as { detail: string }
  expect(body).toEqual({ detail: expect.stringMatching(/temporarily unavailable/) })
  return body.detail
}

describe.each(['refusing', 'hanging'] as const)('a store that is %s', (mode) => {
  test('Postgres: each answer is 503 with Retry-After within its deadline, and a repeated mutation is done once', async () => {
    const { apiKey, workspaceId } = await makeWorkspace(stores)
    const create = () =>
      api.ask('/v1/webhooks', {
        method: 'POST',
        key: apiKey,
        headers: { 'Content-Type': 'application/json', 'Idempotency-Key': `outage ${mode}` },
        body: JSON.stringify({ url: 'https://example.com/hook' }),
      })
    await toPostgres.set(mode)
    // The API hasn't seen this key yet.
    const asked = ['/v1/workspace', '/v1/analytics/overview'].map((path) => api.ask(path, { key: apiKey }))
    await Promise.all([create(), ...asked].map(expectAway))
    // A bad key needs no store to be refused.
    expect((await api.ask('/v1/workspace', { key: 'svc_sk_nothing' })).status).toBe(401)
    expect((await api.ask('/v1/nothing')).status).toBe(404)
    await toPostgres.set('open')
    await expect.poll(async () => (await create()).status).toBe(200)
    expect((await create()).headers.get('idempotent-replayed')).toBe('true')
    const rows = await stores.pg.query('SELECT id FROM webhook_endpoints WHERE workspace_id = $1', [workspaceId])
    expect(rows).toHaveLength(1)
  })

  test('ClickHouse: analytics are 503, the rest goes on, links have no clicks meanwhile, and it recovers by itself', async () => {
    const { apiKey } = await makeKey(stores, mine.workspaceId)
    const { id } = await makeLink(stores, mine.workspaceId, null)
    const shown = async () => {
      const answer = await api.ask(`/v1/links/${id}`, { key: apiKey })
      return [answer.status, await answer.json()]
    }
    await toClickHouse.set(mode)
    const figures = [
      'overview',
      'breakdown?by=os',
      'breakdown?by=screen',
      'pages',
      'flow?path=/',
      'events',
      'funnel?step=path:/&step=event:signup',
      'retention',
      'bots',
    ]
    const told = await Promise.all(
      [...figures, 'conversions'].map((one) => expectAway(api.ask(`/v1/analytics/${one}`, { key: apiKey }))),
    )
    // As one says who asks it while it hangs, and a fifth call that doesn't get as long as that.
    const reason = /longer than the service waits|a store .* does not answer/
    for (const detail of told) expect(detail).toMatch(reason)
    expect((await api.ask('/v1/workspace', { key: apiKey })).status).toBe(200)
    expect(await shown()).toEqual([200, expect.objectContaining({ id, click_counts: null })])
    await toClickHouse.set('open')
    await expect.poll(async () => (await api.ask('/v1/analytics/overview', { key: apiKey })).status).toBe(200)
    const counted = expect.objectContaining({ click_counts: expect.objectContaining({ clicks: 0 }) })
    await expect.poll(shown).toEqual([200, counted])
  })
})

test('a ClickHouse that works at a large question has longer than one that hangs', async () => {
  const deadlineMs = 4_000
  const busy: Pick<ClickHouse, 'query'> = {
    query: async (sql, params, options) => {
      await stores.ch.query('SELECT sleep(3)', {}, { deadlineMs: options!.deadlineMs! })
      return stores.ch.query(sql, params, options)
    },
  }
  const slow = await startApi({ ...stores, ch: { ...stores.ch, ...busy } }, { answerDeadlineMs: deadlineMs })
  const answer = await slow.ask('/v1/analytics/events', { key: mine.apiKey })
  expect([answer.status, await answer.json()]).toEqual([200, expect.anything()])
  await slow.close()
})

test('health says which store is away, without its address, and lives on', async () => {
  const health = async () => {
    const response = await api.ask('/health')
    return [response.status, await response.json()]
  }
  expect(await health()).toEqual([200, { status: 'ok', stores: { postgres: 'ok', clickhouse: 'ok' } }])
  await toClickHouse.set('refusing')
  expect(await health()).toEqual([200, { status: 'degraded', stores: { postgres: 'ok', clickhouse: 'unreachable' } }])
})

test('metrics count requests by operation and status, unknown paths under one label', async () => {
  await api.ask('/v1/workspace', { key: mine.apiKey })
  await api.ask('/v1/workspace', { key: 'x' })
  await api.ask('/v1/a-path-of-the-caller')
  const response = await api.ask('/metrics')
  const text = await response.text()
  expect(response.headers.get('content-type')).toContain('text/plain')
  for (const [operation, status] of [
    ['workspace.get', 200],
    ['workspace.get', 401],
    ['none', 404],
  ]) {
    const labels = `operation="${operation}",status="${status}",service="test"`
    expect(text).toMatch(new RegExp(`svc_api_requests_total\\{${labels}\\} \\d+`))
  }
  expect(text).toMatch(/svc_api_request_seconds_bucket\{le="5",service="test",operation="workspace.get"\} \d+/)
  expect(text).not.toContain('a-path-of-the-caller')
})
