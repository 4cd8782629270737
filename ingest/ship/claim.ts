/**
 * Claims on `client_event_id`s over all nodes: who first wrote an id keeps it. They live in a Redis database of their own,
 * in small hashes, which Redis stores packed: about 20 bytes a claim instead of 130.
 *
 *   key  c:<slice>:<bucket>   slice = time / (window / 3), bucket = the first 18 bits of the hash
 *   field = the hash's last 6 bytes, value = the event id, 8 bytes
 *
 * A claim is looked for in the slices of the whole window and written into the current one, so that it is known for at
 * least the window. Asking again with the same event id gives the same answer: claims may be repeated at any time.
 * When there are more claims than allowed, or Redis has no memory left, the oldest slice is dropped and the metric of the
 * window really held says so. Held by test/integration/claims.test.ts.
 */
import { type Redis, Redis as RedisClient, ReplyError } from 'ioredis'
import { StoreUnavailable } from '../../runtime/store-error.ts'
import { claimsPerCallMax, redisDeadlineMs } from '../../schemas/limits.ts'

export const claimBytes = 16
const slicesPerWindow = 3
const hourMs = 3_600_000

const script = `
local packed, slice, slices, ttl = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4]
local lost, added = {}, 0
for at = 1, #packed, 16 do
  local b1, b2, b3 = string.byte(packed, at, at + 2)
  local bucket = b1 * 1024 + b2 * 4 + math.floor(b3 / 64)
  local field = string.sub(packed, at + 2, at + 7)
  local id = string.sub(packed, at + 8, at + 15)
  local owner = false
  for back = 0, slices - 1 do
    owner = redis.call('HGET', 'c:' .. (slice - back) .. ':' .. bucket, field)
    if owner then break end
  end
  if not owner then
    local key = 'c:' .. slice .. ':' .. bucket
    redis.call('HSET', key, field, id)
    if redis.call('HLEN', key) == 1 then redis.call('PEXPIRE', key, ttl) end
    added = added + 1
  elseif owner ~= id then
    lost[#lost + 1] = (at - 1) / 16
  end
end
local counter = 'n:' .. slice
redis.call('INCRBY', counter, added)
redis.call('PEXPIRE', counter, ttl)
return lost
`

type ClaimsRedis = Redis & {
  claimIds(packed: Buffer, slice: number, slices: number, ttl: number): Promise<number[]>
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
  const slices = slicesPerWindow + 1
  const ttl = Math.ceil(sliceMs * (slices + 1))
  let held = windowHours
  let checkedSlice = 0
  let callsSinceCheck = 0

  /** Drops the oldest slice of the window that holds anything. */
  async function dropOldest(slice: number): Promise<void> {
    for (let back = slices - 1; back >= 0; back--) {
      if ((await redis.del(`n:${slice - back}`)) === 0) continue
      for (let cursor = '0', first = true; first || cursor !== '0'; first = false) {
        const [next, keys] = await redis.scan(cursor, 'MATCH', `c:${slice - back}:*`, 'COUNT', 10_000)
        if (keys.length > 0) await redis.unlink(...keys)
        cursor = next
      }
      held = Math.min(windowHours, (back * sliceMs) / hourMs)
      return
    }
  }

  async function keepBounded(slice: number): Promise<void> {
    if (slice === checkedSlice && ++callsSinceCheck < 100) return
    if (slice !== checkedSlice) held = Math.min(windowHours, held + sliceMs / hourMs)
    checkedSlice = slice
    callsSinceCheck = 0
    const counters = Array.from({ length: slices }, (_, back) => `n:${slice - back}`)
    const counts = await redis.mget(...counters)
    if (counts.reduce((sum, count) => sum + Number(count ?? 0), 0) > entriesMax) await dropOldest(slice)
  }

  async function claimSome(packed: Buffer, slice: number): Promise<number[]> {
    try {
      return await redis.claimIds(packed, slice, slices, ttl)
    } catch (error) {
      if (!(error instanceof ReplyError) || !/^OOM/.test((error as Error).message)) throw error
      await dropOldest(slice)
      return redis.claimIds(packed, slice, slices, ttl)
    }
  }

  return {
    async claim(packed, now) {
      const slice = Math.floor(now / sliceMs)
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
