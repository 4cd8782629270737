import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { listApiKeys, revokeApiKey } from '../../postgres/tables/workspaces/api-keys.ts'
import { fixedClock } from '../../runtime/clock.ts'
import { StoreUnavailable } from '../../runtime/store-error.ts'
import { makeSecretKey } from '../../schemas/keys.ts'
import { apiKeyCacheMs } from '../../schemas/limits/api-limits.ts'
import { makeKey, makeWorkspace, startApi, type TestApi, type TestWorkspace } from '../support/api.ts'
import { setUpStores, type TestStores } from '../support/stores.ts'

const stores = setUpStores()
let mine: TestWorkspace
beforeAll(async () => {
  mine = await makeWorkspace(stores)
})

const clock = fixedClock(Date.now())
let api: TestApi
/** Statements that the API sent to Postgres, each by its first word. */
let asked: string[] = []
let isAway = false
beforeEach(async () => {
  asked = []
  isAway = false
  const pg: TestStores['pg'] = {
    ...stores.pg,
    query: (sql, params) => {
      asked.push(sql.trim().split(' ')[0]!)
      if (isAway) return Promise.reject(new StoreUnavailable('postgres', 'away for this test'))
      return stores.pg.query(sql, params)
    },
  }
  api = await startApi(stores, { pg, clock })
})
afterEach(() => api.close())

const statusOf = async (key: string) => (await api.ask('/v1/workspace', { key })).status
const countOf = (word: string) => asked.filter((one) => one === word).length

/** One that the API has seen, and that was revoked since. */
async function revokedKey(): Promise<string> {
  const { id, apiKey } = await makeKey(stores, mine.workspaceId)
  expect(await statusOf(apiKey)).toBe(200)
  await revokeApiKey(stores.pg, id)
  return apiKey
}

test('a key with a wrong checksum is refused without a look-up', async () => {
  const good = makeSecretKey()
  expect(await statusOf(good.slice(0, -1) + (good.endsWith('0') ? '1' : '0'))).toBe(401)
  expect(asked).toEqual([])
  expect(await statusOf(good)).toBe(401)
  expect(asked).toEqual(['SELECT'])
})

test('many requests of one key at once make one look-up, and so do those that follow soon', async () => {
  const statuses = await Promise.all(Array.from({ length: 50 }, () => statusOf(mine.apiKey)))
  expect(new Set(statuses)).toEqual(new Set([200]))
  clock.advance(apiKeyCacheMs - 1)
  expect(await statusOf(mine.apiKey)).toBe(200)
  expect(countOf('SELECT')).toBe(1)
})

test.each([
  ['within 5 s', 5_000],
  ['at once where the clock is set back', -3 * 86_400_000],
])('a revoked key ends %s', async (_, passedMs) => {
  const apiKey = await revokedKey()
  clock.advance(passedMs)
  expect(await statusOf(apiKey)).toBe(401)
})

test('a key ends at its expiry, also while it is remembered', async () => {
  const { apiKey } = await makeKey(stores, mine.workspaceId, { expiresAt: new Date(clock.now() + 500) })
  expect(await statusOf(apiKey)).toBe(200)
  clock.advance(499)
  expect(await statusOf(apiKey)).toBe(200)
  clock.advance(1)
  expect(await statusOf(apiKey)).toBe(401)
})

test('with Postgres away a revoked key is refused 503, not revived, and a failed look-up is not remembered', async () => {
  const apiKey = await revokedKey()
  isAway = true
  clock.advance(5_000)
  expect(await statusOf(apiKey)).toBe(503)
  isAway = false
  expect(await statusOf(apiKey)).toBe(401)
  expect(await statusOf(mine.apiKey)).toBe(200)
})

test("a key's last use is written down, at most once a minute; a refused one leaves no trace", async () => {
  const { id, apiKey } = await makeKey(stores, mine.workspaceId)
  const sql = 'SELECT last_used_at FROM api_keys WHERE id = $1'
  const lastUse = async () => (await stores.pg.query<{ last_used_at: Date | null }>(sql, [id]))[0]!.last_used_at
  expect(await lastUse()).toBeNull()
  for (let i = 0; i < 5; i++) {
    clock.advance(apiKeyCacheMs)
    expect(await statusOf(apiKey)).toBe(200)
  }
  await expect.poll(lastUse).toBeInstanceOf(Date)
  expect(countOf('UPDATE')).toBe(1)
  clock.advance(60_000)
  expect(await statusOf(apiKey)).toBe(200)
  await expect.poll(() => countOf('UPDATE')).toBe(2)
  await revokeApiKey(stores.pg, id)
  clock.advance(120_000)
  expect(await statusOf(apiKey)).toBe(401)
  expect(countOf('UPDATE')).toBe(2)
})

test('a list that is cut has the keys that work, before newer ones that do not', async () => {
  const other = await makeWorkspace(stores)
  const [live, revoked] = [await makeKey(stores, other.workspaceId), await makeKey(stores, other.workspaceId)]
  await revokeApiKey(stores.pg, revoked.id)
  const expired = await makeKey(stores, other.workspaceId)
  await stores.pg.query("UPDATE api_keys SET expires_at = now() - interval '1 day' WHERE id = $1", [expired.id])
  const ids = (await listApiKeys(stores.pg, other.workspaceId, { max: 4 })).map(({ id }) => id)
  expect(ids.indexOf(live.id)).toBeLessThan(2)
  expect(ids.slice(2)).toEqual([expired.id, revoked.id])
})
