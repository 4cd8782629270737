import { Redis } from 'ioredis'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Claims, connectClaims } from '../../ingest/ship/claim.ts'
import { freshStores, type TestStores } from '../support/stores.ts'

const hourMs = 3_600_000
const now = Date.UTC(2026, 10, 20, 12)

let stores: TestStores
let redis: Redis
const open: Claims[] = []

beforeEach(async () => {
  stores = await freshStores()
  const url = new URL(stores.redisUrl)
  redis = new Redis(stores.redisUrl, { db: Number(url.pathname.slice(1)) + 1 })
})
afterEach(async () => {
  for (const claims of open.splice(0)) await claims.close()
  redis.disconnect()
  await stores.close()
})

function connect(entriesMax = 1_000_000): Claims {
  const claims = connectClaims({ url: stores.redisUrl, windowHours: 24, entriesMax })
  open.push(claims)
  return claims
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

async function untilConnected(claims: Claims): Promise<void> {
  for (;;) {
    try {
      // In a slice of its own, which no test looks at.
      await claims.claim(packed([1], 1), 0)
      return
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  }
}

const keys = Array.from({ length: 5_000 }, (_, i) => i + 1)

describe('claims', () => {
  it('belong to who made them first, however often and in whatever order anybody asks', async () => {
    const [one, two] = [connect(), connect()]
    await Promise.all([untilConnected(one), untilConnected(two)])
    expect(await one.claim(packed(keys, 1000), now)).toEqual([])
    expect(await two.claim(packed(keys, 9000), now)).toEqual(keys.map((_, n) => n))
    expect(await one.claim(packed(keys, 1000), now)).toEqual([])
    expect(await two.claim(packed([1, 5001, 2, 5002], 20_000), now)).toEqual([0, 2])
  })

  it('within one call belong to the first of them', async () => {
    const claims = connect()
    await untilConnected(claims)
    expect(await claims.claim(packed([7, 7, 8, 7], 100), now)).toEqual([1, 3])
  })

  it('are known for the whole window, over the turn of a slice, and give the same answers after it', async () => {
    const claims = connect()
    await untilConnected(claims)
    await claims.claim(packed([1, 2], 100), now)
    const later = now + 24 * hourMs - 1
    expect(await claims.claim(packed([1, 3], 200), later)).toEqual([0])
    expect(await claims.claim(packed([1, 3], 200), later)).toEqual([0])
    expect(await claims.claim(packed([1, 2], 100), later)).toEqual([])
  })

  it('all expire by themselves', async () => {
    const claims = connect()
    await untilConnected(claims)
    await claims.claim(packed(keys, 1), now)
    const names = await redis.keys(`c:${Math.floor(now / (12 * hourMs))}:*`)
    expect(names.length).toBeGreaterThan(4_000)
    const ttls = await Promise.all(names.map((name) => redis.pttl(name)))
    expect(ttls.every((ttl) => ttl > 0 && ttl <= 3 * 24 * hourMs)).toBe(true)
  })

  it('stay within their bound by dropping the oldest, and say so', async () => {
    const claims = connect(2_000)
    await untilConnected(claims)
    expect(claims.heldHours()).toBe(24)
    for (let call = 0; call < 120; call++)
      await claims.claim(
        packed(
          keys.slice(0, 50).map((key) => key + call * 50),
          1,
        ),
        now,
      )
    expect(claims.heldHours()).toBe(0)
    expect((await redis.keys('c:*')).length).toBeLessThan(5_000)
  })

  it('take few bytes each', async () => {
    const claims = connect()
    await untilConnected(claims)
    const many = Array.from({ length: 200_000 }, (_, i) => i + 1)
    const used = async () => Number(/used_memory:(\d+)/.exec(await redis.info('memory'))![1])
    await claims.claim(packed(many, 1), now)
    const before = await used()
    await claims.claim(
      packed(
        many.map((key) => key + 1_000_000),
        1_000_000,
      ),
      now,
    )
    expect((await used()) - before).toBeLessThan(200_000 * 60)
  })
})
