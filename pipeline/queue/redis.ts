/** How the pipeline's two kinds of connection treat a Redis that is away. */
import type { RedisOptions } from 'bullmq'
import { backoffMs } from '../../runtime/retry.ts'
import { redisDeadlineMs } from '../../schemas/limits/store-limits.ts'

const reconnectFirstMs = 100
const reconnectMaxMs = 2_000

type Connection = RedisOptions & { url: string }

const both: RedisOptions = {
  connectTimeout: redisDeadlineMs,
  retryStrategy: (times) => backoffMs(times - 1, reconnectFirstMs, reconnectMaxMs),
}

/** Connection for adding jobs. Commands fail at once while Redis is away, and the sweep retries. */
export function producerConnection(url: string): Connection {
  return { ...both, url, enableOfflineQueue: false, maxRetriesPerRequest: 1 }
}

/** For the worker: its commands wait for Redis to come back, however long. */
export function workerConnection(url: string): Connection {
  return { ...both, url, maxRetriesPerRequest: null }
}
