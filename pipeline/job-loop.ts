/** A job that one process repeats for as long as it runs, with a pause between. */
import type { Clock } from '../runtime/clock.ts'
import type { Log } from '../runtime/log.ts'
import { sleep } from '../runtime/retry.ts'
import type { PipelineMetrics } from './pipeline-metrics.ts'

export interface JobLoop {
  /** Aborts the signal of the run that is under way, and waits for its end. */
  close(): Promise<void>
}

export interface JobLoopOptions {
  /** In metrics. */
  readonly name: string
  /** Logged when runs begin to fail, once until one succeeds. */
  readonly whenFailing: string
  readonly pauseMs: number
}

export interface JobLoopContext {
  readonly clock: Clock
  readonly log: Log
  readonly metrics: PipelineMetrics
}

/** @param run returns whether more waits: then the next run comes without a pause. A run that throws is tried again after the pause. */
export function startJobLoop(
  { clock, log, metrics }: JobLoopContext,
  { name, whenFailing, pauseMs }: JobLoopOptions,
  run: (signal: AbortSignal) => Promise<boolean>,
): JobLoop {
  const stopping = new AbortController()
  const { signal } = stopping
  let isFailing = false

  async function runOnce(): Promise<boolean> {
    const startedAt = performance.now()
    const ended = (outcome: 'done' | 'failed') =>
      metrics.jobEnded(name, outcome, (performance.now() - startedAt) / 1000, clock.now())
    try {
      const isMore = await run(signal)
      ended('done')
      isFailing = false
      return isMore
    } catch (error) {
      ended('failed')
      if (!isFailing) log.warn({ err: error }, whenFailing)
      isFailing = true
      return false
    }
  }

  async function repeat(): Promise<void> {
    while (!signal.aborted) if (!(await runOnce())) await sleep(pauseMs, signal)
  }

  const running = repeat()
  return {
    close: async () => {
      stopping.abort()
      await running
    },
  }
}
