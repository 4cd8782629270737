import { Redis } from 'ioredis'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { type Claims, connectClaims } from '../../ingest/ship/claim.ts'
import { sleep } from '../../runtime/retry.ts'
import { setUpStores } from '../support/stores.ts'
import { startTcpProxy } from '../support/tcp-proxy.ts'

const hourMs = 3_600_000
const sliceMs = 12 * hourMs

const stores = setUpStores()
let redis: Redis
const open: Claims[] = []

/** A slice that ends in a test would age its claims by one more. */
const roomMs = 30_000

beforeEach(async () => {
  const leftMs = sliceMs - (Date.now() % sliceMs)
  if (leftMs < roomMs) await sleep(leftMs + 100)
  redis = new Redis(stores.redisUrl)
  await redis.select(queueDatabase() + 1)
  await redis.flushdb()
})
afterEach(async () => {
  for (const claims of open.splice(0)) await claims.close()
  redis.disconnect()
})

const queueDatabase = () => Number(new URL(stores.redisUrl).pathname.slice(1))

/** As if `slices` times half the window had passed since all that is held was claimed. */
async function age(slices: number): Promise<void> {
  const names = await redis.keys('[cn]:*')
  const older = (name: string) => name.replace(/\d+/, (slice) => String(Number(slice) - slices))
  for (const name of names) await redis.rename(name, older(name))
  await redis.decrby('since', slices * sliceMs)
}

async function connect(entriesMax = 1_000_000): Promise<Claims> {
  const claims = connectClaims({ url: stores.redisUrl, windowHours: 24, entriesMax })
  open.push(claims)
  // One that Redis was late with is made again, as the shipper does: the answer is the same.
  const claim = (packed: Buffer) => vi.waitFor(() => claims.claim(packed), { timeout: 60_000, interval: 10 })
  // Nothing that a test looks at.
  await claim(Buffer.alloc(16))
  return { ...claims, claim }
}

/** Claims of the ids `keys`, for the events `first`, `first` + 1, … */
function packed(keys: readonly number[], first: number): Buffer {
  const bytes = Buffer.alloc(keys.length * 16)
  for (const [n, key] of keys.entries()) {
    // Spread over all buckets, as hashes are.
    bytes.writeBigUInt64LE((BigInt(key) * 0x9e3779b97f4a7c15n) & 0xffffffffffffffffn, n * 16)
    bytes.writeBigUInt64LE(BigInt(first + n), n * 16 + 8)
  }
  return bytes
}

const keys = Array.from({ length: 5_000 }, (_, i) => i + 1)

it('claims belong to who made them first, however often and in whatever order anybody asks', async () => {
  const [one, two] = await Promise.all([connect(), connect()])
  expect(await one.claim(packed(keys, 1000))).toEqual([])
  expect(await two.claim(packed(keys, 9000))).toEqual(keys.map((_, n) => n))
  expect(await one.claim(packed(keys, 1000))).toEqual([])
  expect(await two.claim(packed([1, 5001, 2, 5002], 20_000))).toEqual([0, 2])
  // Also within one call.
  expect(await one.claim(packed([7001, 7001, 7002, 7001], 100))).toEqual([1, 3])
})

it('claims are known for the whole window, and give the same answers after a slice is over', async () => {
  const claims = await connect()
  await claims.claim(packed([1, 2], 100))
  await age(2)
  expect(await claims.claim(packed([1, 3], 200))).toEqual([0])
  expect(await claims.claim(packed([1, 3], 200))).toEqual([0])
  expect(await claims.claim(packed([1, 2], 100))).toEqual([])
})

it('claims all expire by themselves', async () => {
  const claims = await connect()
  await claims.claim(packed(keys, 1))
  const ttls = async () => {
    const names = await redis.keys('[cn]:*')
    expect(names.length).toBeGreaterThan(4_000)
    return Promise.all(names.map((name) => redis.pttl(name)))
  }
  const isRight = (ttl: number) => ttl > 0 && ttl <= 3 * 24 * hourMs
  expect((await ttls()).every(isRight)).toBe(true)
  // Those made anew in a Redis that has lost them, too.
  await redis.flushdb()
  await claims.claim(packed(keys, 1))
  expect((await ttls()).every(isRight)).toBe(true)
})

it('claims have the database after the one that the URL names, and leave that one alone', async () => {
  const claims = await connect()
  await claims.claim(packed([1, 2, 3], 1))
  const own = /db=(\d+)/.exec(await (redis.client('INFO') as Promise<string>))?.[1]
  expect(Number(own)).toBe(queueDatabase() + 1)
  // With that of the first connection.
  expect(await redis.keys('c:*')).toHaveLength(4)
  await redis.select(queueDatabase())
  expect(await redis.keys('c:*')).toEqual([])
})

it('claims are made nowhere else where there is no such database', async () => {
  const last = new URL(stores.redisUrl)
  const [, databases] = (await redis.config('GET', 'databases')) as unknown as [string, string]
  last.pathname = `/${Number(databases) - 1}`
  const claims = connectClaims({ url: last.href, windowHours: 24, entriesMax: 1_000 })
  open.push(claims)
  await expect
    .poll(() => claims.claim(packed([1], 1)).catch((error) => error.message))
    .toMatch(/claims need the database after the one that REDIS_URL names, \d+: .*out of range/)
  for (const number of [0, Number(databases) - 1]) {
    await redis.select(number)
    expect(await redis.keys('[cn]:*')).toEqual([])
  }
})

it('claims are made again after a Redis that stood still while a connection was set up', async () => {
  let stall: (() => void) | undefined = () => {
    void proxy.set('stalled')
    // Longer than a command waits.
    setTimeout(() => void proxy.set('open'), 2_500)
  }
  const proxy = await startTcpProxy(stores.redisUrl, {
    toStore: (chunk) => {
      if (/\r\ntime\r\n/.test(chunk.toString('latin1'))) {
        stall?.()
        stall = undefined
      }
      return true
    },
  })
  try {
    const claims = connectClaims({ url: proxy.url, windowHours: 24, entriesMax: 1_000 })
    open.push(claims)
    await expect.poll(() => claims.claim(packed([1], 1)).catch(String)).toEqual([])
    expect(stall).toBeUndefined()
  } finally {
    await proxy.close()
  }
})

it('claims say since when they are held: from the first one, after a loss from the next one, and not beyond the window', async () => {
  const claims = await connect()
  expect(claims.heldHours()).toBeLessThan(0.1)
  await age(1)
  await claims.claim(packed([1], 1))
  expect(claims.heldHours()).toBeCloseTo(12, 1)
  const another = await connect()
  await expect.poll(() => another.heldHours()).toBeCloseTo(12, 1)
  await age(4)
  await claims.claim(packed([2], 2))
  expect(claims.heldHours()).toBe(24)
  await redis.flushdb()
  await claims.claim(packed([1], 1))
  expect(claims.heldHours()).toBeLessThan(0.1)
})

it('claims stay within their bound by dropping the oldest, and say so', async () => {
  const claims = await connect(2_000)
  await redis.decrby('since', 24 * hourMs)
  await claims.claim(packed([1], 1))
  expect(claims.heldHours()).toBe(24)
  const fifty = (call: number) => keys.slice(0, 50).map((key) => key + call * 50)
  for (let call = 0; call < 120; call++) await claims.claim(packed(fifty(call), 1))
  expect(claims.heldHours()).toBeLessThan(0.1)
  const left = (await redis.keys('c:*')).length
  expect(left).toBeLessThan(5_000)
  // A part of the slice at a time: not all that it had.
  expect(left).toBeGreaterThan(2_000)
})

it('claims take few bytes each', async () => {
  const claims = await connect()
  const many = (from: number) =>
    packed(
      Array.from({ length: 100_000 }, (_, i) => i + from),
      from,
    )
  // Not those of the whole Redis, which other files use.
  const used = async () => {
    const keys = await redis.keys('[cn]:*')
    const sizes = await Promise.all(keys.map((key) => redis.memory('USAGE', key, 'SAMPLES', 0)))
    return sizes.reduce<number>((sum, bytes) => sum + (bytes ?? 0), 0)
  }
  await claims.claim(many(1))
  const before = await used()
  await claims.claim(many(1_000_000))
  expect((await used()) - before).toBeLessThan(100_000 * 60)
})
