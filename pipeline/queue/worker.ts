/**
 * Takes jobs from the queue and runs them. Redis may go away and come back: the worker waits for it. A job that this
 * process dies in is given to another worker once its lock has run out.
 */
import { Worker } from 'bullmq'
import { noteJobSuccess } from '../../postgres/tables/operation/job-successes.ts'
import { forgetJobAside, setJobAside } from '../../postgres/tables/operation/set-aside-jobs.ts'
import { withDeadline } from '../../runtime/shutdown.ts'
import { type JobName, pipelineQueue } from '../../schemas/jobs.ts'
import type { JobContext, Jobs } from './job.ts'
import { workerConnection } from './redis.ts'

/** Jobs at once: they wait for stores, not for this process. */
const concurrency = 4
/** A worker that died gives its job away after this. */
const lockMs = 30_000
/** A job isn't failed because its process died during it, however often: the cause may be elsewhere. */
const stallsMax = 10
/** For jobs under way to end, and then for the queue to be told: together within the 20 s of a step of the shutdown. */
const jobsDeadlineMs = 12_000
const closeDeadlineMs = 3_000
/** While Redis is away, errors of the connection come by the dozen: one line in this time says it. */
const errorLineEveryMs = 30_000

export interface PipelineWorker {
  /** Takes no more jobs, tells those under way to end, and waits for them for a bounded time. */
  close(): Promise<void>
}

export function startWorker(redisUrl: string, jobs: Jobs, context: Omit<JobContext, 'signal'>): PipelineWorker {
  const { log, metrics, clock } = context
  const stopping = new AbortController()
  const underWay = new Set<Promise<void>>()

  async function run(name: JobName): Promise<void> {
    const startedAt = performance.now()
    const ended = (outcome: 'done' | 'failed') =>
      metrics.jobEnded(name, outcome, (performance.now() - startedAt) / 1000, clock.now())
    try {
      await jobs[name]({ ...context, log: log.child({ job: name }), signal: stopping.signal })
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
      const running = run(job.name as JobName)
      underWay.add(running)
      await running.finally(() => underWay.delete(running))
    },
    {
      connection: workerConnection(redisUrl),
      concurrency,
      lockDuration: lockMs,
      maxStalledCount: stallsMax,
      skipVersionCheck: true,
    },
  )
  // In Postgres, because the queue may lose everything.
  const note = (job: string, written: Promise<void>) =>
    void written.catch((error) => log.warn({ job, err: error }, 'it could not be noted how the job ended'))
  worker.on('failed', (job, error) => {
    if (job === undefined || job.attemptsMade < (job.opts.attempts ?? 1)) return
    note(job.name, setJobAside(context.pg, job.name, '', error.message))
  })
  worker.on('completed', ({ name }) => {
    note(name, forgetJobAside(context.pg, name))
    note(name, noteJobSuccess(context.pg, name))
  })
  let saidAt = Number.NEGATIVE_INFINITY
  worker.on('error', (error) => {
    if (performance.now() - saidAt < errorLineEveryMs) return
    saidAt = performance.now()
    log.warn({ err: error }, 'the worker can not use the queue now')
  })

  return {
    close: async () => {
      stopping.abort(new Error('the pipeline is stopping'))
      // Called first, so that no other job is taken; it has no deadline of its own and waits for a Redis that is away.
      const closed = worker.close()
      try {
        await withDeadline(Promise.allSettled(underWay), jobsDeadlineMs, 'ending the jobs under way')
        await withDeadline(closed, closeDeadlineMs, 'leaving the queue')
      } catch (error) {
        // The locks of jobs left behind run out, and another worker runs them again.
        log.warn({ err: error }, 'left the queue without a word')
      }
    },
  }
}
