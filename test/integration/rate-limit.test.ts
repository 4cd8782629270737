import { Redis } from 'ioredis'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { makeRateLimiter } from '../../api/guards/rate-limit.ts'
import { systemClock } from '../../runtime/clock.ts'
import { makeKey, makeWorkspace, startApi, type TestApi, type TestWorkspace } from '../support/api.ts'
import { setUpStores } from '../support/stores.ts'
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts'

const limits = { starter: 2, growth: 5, scale: 7 }

const stores = setUpStores()
let toRedis: TcpProxy
let clients: Redis[]
/** Two that wait for Redis as long as it takes, and two that soon give up. */
let nodes: TestApi[]
let mine: TestWorkspace
beforeAll(async () => {
  toRedis = await startTcpProxy(stores.redisUrl)
  clients = [60_000, 60_000, 500, 500].map((commandTimeout) => {
    const redis = new Redis(toRedis.url, { enableOfflineQueue: false, maxRetriesPerRequest: 0, commandTimeout })
    return redis.on('error', () => {})
  })
  await Promise.all(clients.map((redis) => new Promise((resolve) => redis.once('ready', resolve))))
  nodes = await Promise.all(
    clients.map((redis) => startApi(stores, { rateLimiter: makeRateLimiter({ redis, limits, clock: systemClock }) })),
  )
})
afterAll(async () => {
  await Promise.all(nodes.map((node) => node.close()))
  for (const redis of clients) redis.disconnect()
  await toRedis.close()
})
beforeEach(async () => {
  await toRedis.set('open')
  await expect.poll(() => clients.map(({ status }) => status)).toEqual(Array(4).fill('ready'))
  mine = await makeWorkspace(stores)
})

const ask = (node: number, key = mine.apiKey, path = '/v1/workspace') => nodes[node]!.ask(path, { key })
const limitOf = ({ headers }: Response) =>
  ['limit', 'remaining', 'reset'].map((name) => Number(headers.get(`x-ratelimit-${name}`)))

test('a key has its plan’s requests a window over all nodes together, then 429 until it ends', async () => {
  const remaining = []
  for (let at = 0; at < limits.growth; at++) {
    const answer = await ask(at % 2)
    expect(answer.status).toBe(200)
    const [limit, left, reset] = limitOf(answer)
    expect(limit).toBe(limits.growth)
    expect(reset! - Date.now() / 1000).toBeGreaterThan(0)
    expect(reset! - Date.now() / 1000).toBeLessThanOrEqual(61)
    remaining.push(left)
  }
  expect(remaining).toEqual([4, 3, 2, 1, 0])
  const askedAt = Date.now() / 1000
  const refused = await ask(1)
  expect([refused.status, await refused.json()]).toEqual([429, { detail: 'Rate limit exceeded' }])
  const [limit, left, reset] = limitOf(refused)
  expect([limit, left]).toEqual([limits.growth, 0])
  const retryAfter = Number(refused.headers.get('retry-after'))
  expect(retryAfter).toBeGreaterThan(0)
  expect(retryAfter).toBeLessThanOrEqual(60)
  // Both are whole seconds of the moment of the answer, which a slow machine gives late.
  expect(reset! - retryAfter).toBeGreaterThan(askedAt - 2)
  expect(reset! - retryAfter).toBeLessThan(Date.now() / 1000 + 2)
})

test('keys and plans have limits of their own', async () => {
  const other = await makeKey(stores, mine.workspaceId)
  const starter = await makeWorkspace(stores, { plan: 'starter' })
  for (let at = 0; at < limits.growth; at++) await ask(0)
  expect((await ask(0)).status).toBe(429)
  expect((await ask(0, other.apiKey)).status).toBe(200)
  const answers = [await ask(0, starter.apiKey), await ask(0, starter.apiKey), await ask(0, starter.apiKey)]
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 429])
})

test('refusals of a good key count and say what is left; a bad key’s say nothing', async () => {
  const narrow = await makeKey(stores, mine.workspaceId, { scopes: ['media:read'] })
  const refused = await ask(0, narrow.apiKey)
  expect([refused.status, limitOf(refused)[1]]).toEqual([403, limits.growth - 1])
  const invalid = await ask(0, mine.apiKey, '/v1/audit-log?limit=0')
  expect([invalid.status, limitOf(invalid)[1]]).toEqual([422, limits.growth - 1])
  const unknown = await ask(0, `${mine.apiKey}x`)
  expect([unknown.status, unknown.headers.has('x-ratelimit-limit')]).toEqual([401, false])
})

test.each(['refusing', 'hanging'] as const)('with Redis %s each node counts for itself', async (mode) => {
  await toRedis.set(mode)
  const statuses = []
  for (let at = 0; at < limits.growth + 1; at++) statuses.push((await ask(2)).status)
  expect(statuses).toEqual([...Array(limits.growth).fill(200), 429])
  expect((await ask(3)).status).toBe(200)
})
