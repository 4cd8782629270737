/**
 * The jobs and their intervals. A sweep writes them to the queue in Redis, at start and every ten seconds. So an emptied
 * or replaced Redis has its schedules back within that time.
 */
import { Queue } from 'bullmq'
import type { Queryable } from '../../postgres/client.ts'
import { takeAskedRetries } from '../../postgres/tables/operation/set-aside-jobs.ts'
import type { Config } from '../../runtime/config.ts'
import type { Log } from '../../runtime/log.ts'
import { withDeadline } from '../../runtime/shutdown.ts'
import { type JobName, pipelineQueue } from '../../schemas/jobs.ts'
import { idempotencySweepMs } from '../../schemas/limits/api-limits.ts'
import { redisDeadlineMs } from '../../schemas/limits/store-limits.ts'
import { minute } from '../../schemas/limits/units.ts'
import type { PipelineMetrics } from '../pipeline-metrics.ts'
import { producerConnection } from './redis.ts'

export interface Schedule {
  readonly job: JobName
  readonly everyMs: number
}

export function schedulesOf({ retentionSweepMinutes }: Pick<Config, 'retentionSweepMinutes'>): Schedule[] {
  return [
    { job: 'delete-workspaces', everyMs: minute },
    { job: 'expire-apps', everyMs: 60 * minute },
    { job: 'expire-data', everyMs: retentionSweepMinutes * minute },
    { job: 'expire-deliveries', everyMs: 60 * minute },
    { job: 'expire-idempotency', everyMs: idempotencySweepMs },
    { job: 'expire-salts', everyMs: 60 * minute },
  ]
}

const sweepEveryMs = 10_000
/** While Redis is away, or at a process's start, sooner. */
const retryEveryMs = 2_000
/** A schedule whose next run is overdue by more has lost its job, and is made anew. */
const overdueMs = 10 * minute
const sweepDeadlineMs = 5 * redisDeadlineMs

/** A failed run is tried again after 30 s, 1 min, 2 min … and for the last time about an hour later. */
const runOptions = {
  attempts: 8,
  backoff: { type: 'exponential', delay: 30_000 },
  removeOnComplete: { count: 100 },
  removeOnFail: { count: 500 },
} as const

export interface Sweep {
  /** Resolves after the first sweep that succeeded. */
  readonly swept: Promise<void>
  close(): void
}

export interface SweepOptions {
  readonly pg: Queryable
  readonly redisUrl: string
  readonly schedules: readonly Schedule[]
  readonly metrics: PipelineMetrics
  readonly log: Log
  readonly everyMs?: number
}

export function startSweep({ pg, redisUrl, schedules, metrics, log, everyMs = sweepEveryMs }: SweepOptions): Sweep {
  let queue: Queue | undefined
  let timer: NodeJS.Timeout | undefined
  let isClosed = false
  let wasReachable = true
  let resolveSwept: () => void
  const firstSwept = new Promise<void>((resolve) => {
    resolveSwept = resolve
  })

  async function sweep(): Promise<void> {
    let next = everyMs
    try {
      queue ??= openQueue(redisUrl)
      const swept = makeSchedules(queue, schedules, metrics)
      await withDeadline(swept, sweepDeadlineMs, 'the sweep of the queue')
      // The pool of Postgres may end once this is closed.
      if (!isClosed) await retryAsked({ pg, queue, schedules, log, isClosed: () => isClosed })
      if (!wasReachable) log.info('the queue is reachable again')
      wasReachable = true
      metrics.redisIs(true)
      resolveSwept()
    } catch (error) {
      if (wasReachable) log.warn({ err: error }, 'the queue is not reachable')
      wasReachable = false
      metrics.redisIs(false)
      next = Math.min(everyMs, retryEveryMs)
      // A connection that failed while it was being made is never used again by BullMQ: the next sweep makes another.
      closeQueue()
    }
    if (!isClosed) timer = setTimeout(() => void sweep(), next)
  }

  /** Not waited for: while Redis is away it takes as long as Redis does. */
  function closeQueue(): void {
    void queue?.disconnect().catch(() => {})
    queue = undefined
  }

  void sweep()
  return {
    swept: firstSwept,
    close: () => {
      isClosed = true
      clearTimeout(timer)
      closeQueue()
    },
  }
}

function openQueue(redisUrl: string): Queue {
  const queue = new Queue(pipelineQueue, {
    connection: producerConnection(redisUrl),
    skipVersionCheck: true,
    skipMetasUpdate: true,
  })
  // Said once by the sweep, which fails for the same reason.
  queue.on('error', () => {})
  return queue
}

/** Makes missing or different jobs, removes those that are no longer meant, and leaves the rest to their own time. */
async function makeSchedules(queue: Queue, schedules: readonly Schedule[], metrics: PipelineMetrics): Promise<void> {
  const there = new Map((await queue.getJobSchedulers()).map((scheduler) => [scheduler.key, scheduler]))
  for (const { job, everyMs } of schedules) {
    const known = there.get(job)
    const dueInMs = (known?.next ?? 0) - Date.now()
    // A clock that was ahead when the next run was set, and is right again, would have it wait for as long.
    const isTooLate = dueInMs > everyMs + overdueMs
    // An upsert alone goes on from the run that is set.
    if (isTooLate) await queue.removeJobScheduler(job)
    const isRight = known?.every === everyMs && dueInMs > -overdueMs && !isTooLate
    if (!isRight) await queue.upsertJobScheduler(job, { every: everyMs }, { name: job, data: {}, opts: runOptions })
  }
  const meant = new Set<string>(schedules.map(({ job }) => job))
  for (const key of there.keys()) if (!meant.has(key)) await queue.removeJobScheduler(key)
  const counts = await queue.getJobCounts('waiting', 'active', 'delayed', 'failed')
  for (const [state, count] of Object.entries(counts)) metrics.queueIs(state, count)
}

interface Retrying extends Pick<SweepOptions, 'pg' | 'schedules' | 'log'> {
  readonly queue: Queue
  isClosed(): boolean
}

/** Puts jobs that an operator wants again into the queue. One that is lost with Redis comes again at its own time. */
async function retryAsked({ pg, queue, schedules, log, isClosed }: Retrying): Promise<void> {
  try {
    for (const { job } of schedules) {
      if (isClosed()) return
      const asked = await takeAskedRetries(pg, job)
      if (asked.length > 0) await queue.add(job, {}, runOptions)
    }
  } catch (error) {
    log.warn({ err: error }, 'what operators want again could not be looked up')
  }
}
