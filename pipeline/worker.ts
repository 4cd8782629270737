/**
 * Takes jobs from the queue and runs them. Redis may go away and come back: the worker waits for it. A job that this
 * process dies in is given to another worker once its lock has run out.
 */
import { Worker } from 'bullmq'
import { withDeadline } from '../runtime/shutdown.ts'
import { type JobName, pipelineQueue } from '../schemas/jobs.ts'
import type { JobContext, Jobs } from './job.ts'
import { workerConnection } from './redis.ts'

/** Jobs at once: they wait for stores, not for this process. */
const concurrency = 4
/** A worker that died gives its job away after this. */
const lockMs = 30_000
/** Dying in a job again and again doesn't condemn the job: it may not be its fault. */
const stallsMax = 10
/** The end of jobs under way; within the 20 s of a step of the shutdown. */
const closeDeadlineMs = 15_000
/** While Redis is away, errors of the connection come by the dozen: one line in this time says it. */
const errorLineEveryMs = 30_000

export interface PipelineWorker {
  /** Takes no more jobs, tells those under way to end, and waits for them for a bounded time. */
  close(): Promise<void>
}

export function startWorker(redisUrl: string, jobs: Jobs, context: Omit<JobContext, 'signal'>): PipelineWorker {
  const { log, metrics, clock } = context
  const stopping = new AbortController()

  async function run(name: JobName, input: Parameters<Jobs[JobName]>[1]): Promise<void> {
    const startedAt = performance.now()
    const ended = (outcome: 'done' | 'failed') =>
      metrics.jobEnded(name, outcome, (performance.now() - startedAt) / 1000, clock.now())
    try {
      await jobs[name]({ ...context, log: log.child({ job: name }), signal: stopping.signal }, input)
      ended('done')
    } catch (error) {
      ended('failed')
      log.warn({ job: name, err: error }, 'a job failed and will be run again')
      throw error
    }
  }

  const worker = new Worker(
    pipelineQueue,
    async (job) => {
      // A newer version's job that this one doesn't know: failing it leaves it to be run again.
      if (!Object.hasOwn(jobs, job.name)) throw new Error(`there is no job ${job.name}`)
      await run(job.name as JobName, job.data)
    },
    {
      connection: workerConnection(redisUrl),
      concurrency,
      lockDuration: lockMs,
      maxStalledCount: stallsMax,
      skipVersionCheck: true,
    },
  )
  let saidAt = Number.NEGATIVE_INFINITY
  worker.on('error', (error) => {
    if (performance.now() - saidAt < errorLineEveryMs) return
    saidAt = performance.now()
    log.warn({ err: error }, 'the worker can not use the queue now')
  })

  return {
    close: async () => {
      stopping.abort(new Error('the pipeline is stopping'))
      try {
        await withDeadline(worker.close(), closeDeadlineMs, 'ending the jobs under way')
      } catch (error) {
        // Their locks run out, and another worker runs them again.
        log.warn({ err: error }, 'left jobs behind')
        await worker.disconnect().catch(() => {})
      }
    },
  }
}
