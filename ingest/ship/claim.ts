/**
 * Claims on `client_event_id`s over all nodes: who first wrote an id keeps it. They live in a Redis database of their own,
 * in small hashes, which Redis stores packed: about 20 bytes a claim instead of 130.
 *
 *   key  c:<slice>:<bucket>   slice = time / (window / 2), bucket = the first 17 bits of the hash
 *   field = the hash's last 6 bytes, value = the event id, 8 bytes
 *
 * A claim is written into the current slice and looked for in the two before as well, so that it is known for at least
 * the window. Asking again with the same event id gives the same answer: claims may be repeated at any time.
 * When there are more claims than allowed, or Redis has no memory left, the oldest slice is dropped and the metric of the
 * window really held says so. Held by test/integration/claims.test.ts.
 */
import { type Redis, Redis as RedisClient, ReplyError } from 'ioredis'
import { StoreUnavailable } from '../../runtime/store-error.ts'
import { claimsPerCallMax, redisDeadlineMs } from '../../schemas/limits.ts'

export const claimBytes = 16
const keysPerCall = 4096
const callsBetweenChecks = 100
const expiryRenewalMs = 600_000
const hourMs = 3_600_000
const slicesPerWindow = 2
const bucketBits = 17

// ARGV: claims of 16 bytes | a byte for each: 1 where its bucket needs an expiry | slice | ttl in ms
const script = `
local packed, fresh, slice, ttl = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4]
local call, sub, byte, floor = redis.call, string.sub, string.byte, math.floor
local now, before, oldest = 'c:' .. slice .. ':', 'c:' .. (slice - 1) .. ':', 'c:' .. (slice - 2) .. ':'
local hasBefore = call('EXISTS', 'n:' .. (slice - 1), 'n:' .. (slice - 2)) > 0
local lost, added = {}, 0
for n = 0, #packed / 16 - 1 do
  local at = n * 16 + 1
  local b1, b2, b3 = byte(packed, at, at + 2)
  local bucket = b1 * 512 + b2 * 2 + floor(b3 / 128)
  local field, id = sub(packed, at + 2, at + 7), sub(packed, at + 8, at + 15)
  if call('HSETNX', now .. bucket, field, id) == 1 then
    added = added + 1
    local owner = hasBefore and (call('HGET', before .. bucket, field) or call('HGET', oldest .. bucket, field))
    if owner and owner ~= id then
      call('HSET', now .. bucket, field, owner)
      lost[#lost + 1] = n
    end
    if byte(fresh, n + 1) == 1 then call('PEXPIRE', now .. bucket, ttl) end
  elseif call('HGET', now .. bucket, field) ~= id then
    lost[#lost + 1] = n
  end
end
call('INCRBY', 'n:' .. slice, added)
call('PEXPIRE', 'n:' .. slice, ttl)
return lost
`

type ClaimsRedis = Redis & {
  claimIds(packed: Buffer, fresh: Buffer, slice: number, ttl: number): Promise<number[]>
}

export interface Claims {
  /**
   * Claims for each 16 bytes of `packed` (8 of hash, 8 of event id).
   * @returns the positions whose id another event has claimed before
   * @throws StoreUnavailable
   */
  claim(packed: Buffer, now: number): Promise<number[]>
  /** Hours for which claims are known to be held; less than the window once slices had to be dropped. */
  heldHours(): number
  close(): Promise<void>
}

export interface ClaimsOptions {
  readonly url: string
  readonly windowHours: number
  readonly entriesMax: number
}

export function connectClaims({ url, windowHours, entriesMax }: ClaimsOptions): Claims {
  const redis = new RedisClient(url, {
    db: claimsDatabaseOf(url),
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    commandTimeout: redisDeadlineMs,
    connectTimeout: redisDeadlineMs,
    retryStrategy: (attempt) => Math.min(100 * attempt, 2000),
  }) as ClaimsRedis
  // Failures reach the caller through its own call; without a listener they would end the process.
  redis.on('error', () => {})
  redis.defineCommand('claimIds', { numberOfKeys: 0, lua: script })

  const sliceMs = (windowHours * hourMs) / slicesPerWindow
  const ttl = sliceMs * (slicesPerWindow + 2)
  let held = windowHours
  let currentSlice = 0
  let callsSinceCheck = 0
  /** Buckets of the current slice that this node has given an expiry. */
  let expiring = new Uint8Array(2 ** bucketBits)
  let expiringSince = 0

  async function dropSlice(slice: number): Promise<void> {
    await redis.del(`n:${slice}`)
    const buckets = Array.from({ length: 2 ** bucketBits }, (_, bucket) => `c:${slice}:${bucket}`)
    for (let at = 0; at < buckets.length; at += keysPerCall) await redis.unlink(buckets.slice(at, at + keysPerCall))
  }

  /** Makes room: the oldest slice that holds claims goes, be it the current one. */
  async function dropOldest(slice: number): Promise<void> {
    for (let back = slicesPerWindow; back >= 0; back--) {
      if ((await redis.exists(`n:${slice - back}`)) === 0) continue
      await dropSlice(slice - back)
      held = Math.min(held, Math.max(0, back - 1) * (sliceMs / hourMs))
      if (back === 0) expiring = new Uint8Array(2 ** bucketBits)
      return
    }
  }

  async function keepBounded(slice: number): Promise<void> {
    if (++callsSinceCheck < callsBetweenChecks) return
    callsSinceCheck = 0
    const counts = await redis.mget(Array.from({ length: slicesPerWindow + 1 }, (_, back) => `n:${slice - back}`))
    if (counts.reduce((sum, count) => sum + Number(count ?? 0), 0) > entriesMax) await dropOldest(slice)
  }

  /** Which claims are the first that this node makes in their buckets: those are given the expiry. */
  function markFresh(packed: Buffer): Buffer {
    const fresh = Buffer.alloc(packed.length / claimBytes)
    for (let n = 0; n < fresh.length; n++) {
      const bucket = packed.readUIntBE(n * claimBytes, 3) >> (24 - bucketBits)
      if (expiring[bucket] === 1) continue
      expiring[bucket] = 1
      fresh[n] = 1
    }
    return fresh
  }

  async function claimSome(packed: Buffer, slice: number): Promise<number[]> {
    const fresh = markFresh(packed)
    try {
      return await redis.claimIds(packed, fresh, slice, ttl)
    } catch (error) {
      // Whether the expiries were set isn't known.
      expiring = new Uint8Array(2 ** bucketBits)
      if (!(error instanceof ReplyError) || !/^OOM/.test((error as Error).message)) throw error
      await dropOldest(slice)
      return redis.claimIds(packed, fresh, slice, ttl)
    }
  }

  function turnTo(slice: number, now: number): void {
    if (slice === currentSlice) {
      // A Redis that was emptied has lost the expiries with the rest.
      if (now - expiringSince < expiryRenewalMs) return
      expiringSince = now
      expiring = new Uint8Array(2 ** bucketBits)
      return
    }
    // After a drop the window fills up again.
    if (currentSlice !== 0) held = Math.min(windowHours, held + sliceMs / hourMs)
    currentSlice = slice
    expiring = new Uint8Array(2 ** bucketBits)
  }

  return {
    async claim(packed, now) {
      const slice = Math.floor(now / sliceMs)
      turnTo(slice, now)
      const lost: number[] = []
      try {
        for (let at = 0; at < packed.length; at += claimsPerCallMax * claimBytes) {
          const some = await claimSome(packed.subarray(at, at + claimsPerCallMax * claimBytes), slice)
          for (const position of some) lost.push(at / claimBytes + position)
        }
        await keepBounded(slice)
      } catch (error) {
        throw new StoreUnavailable('redis', (error as Error).message, { cause: error })
      }
      return lost
    },
    heldHours: () => held,
    async close() {
      redis.disconnect()
    },
  }
}

/** Claims have the database after the one that the URL names: the queues' keys and theirs never meet. */
function claimsDatabaseOf(url: string): number {
  return Number(new URL(url).pathname.slice(1) || 0) + 1
}
