/** Generates company profiles for as long as the process runs, one at a time. */
import type { Log } from '../../runtime/log.ts'
import { profileEveryMs } from '../../schemas/limits/profile-limits.ts'
import type { PipelineMetrics } from '../pipeline-metrics.ts'
import { type Generating, generateNext } from './generate.ts'

export interface Profiler {
  /** Gives up what is under way: another process, or the next start, takes it. */
  close(): Promise<void>
}

export function startProfiler(context: Generating, { log, metrics }: { log: Log; metrics: PipelineMetrics }): Profiler {
  const stopping = new AbortController()
  let timer: NodeJS.Timeout | undefined
  let isFailing = false
  let running = round()

  async function round(): Promise<void> {
    const startedAt = performance.now()
    const ended = (outcome: 'done' | 'failed') =>
      metrics.jobEnded('generate-profile', outcome, (performance.now() - startedAt) / 1000, context.clock.now())
    let isMore = false
    try {
      isMore = await generateNext(context, stopping.signal)
      if (isMore) ended('done')
      isFailing = false
    } catch (error) {
      if (!stopping.signal.aborted) {
        ended('failed')
        if (!isFailing) log.warn({ err: error }, 'company profiles can not be generated now')
        isFailing = true
      }
    }
    if (stopping.signal.aborted) return
    timer = setTimeout(
      () => {
        running = round()
      },
      isMore ? 0 : profileEveryMs,
    )
  }

  return {
    async close() {
      stopping.abort(new Error('the pipeline is stopping'))
      clearTimeout(timer)
      await running
    },
  }
}
