/** Credits payments for as long as the process runs. Several processes may do it at once: each computes the same. */
import type { Log } from '../../runtime/log.ts'
import { creditEveryMs } from '../../schemas/limits/revenue-limits.ts'
import type { PipelineMetrics } from '../pipeline-metrics.ts'
import { type Crediting, creditRevenue } from './credit-payments.ts'

export interface Creditor {
  /** Ends between two statements, and waits for that. */
  close(): Promise<void>
}

export function startCreditor(context: Crediting, { log, metrics }: { log: Log; metrics: PipelineMetrics }): Creditor {
  const stopping = new AbortController()
  let isFailing = false
  let timer: NodeJS.Timeout | undefined
  let running = round()

  /** What is due stays due until it was credited: a store that is away delays it. */
  async function round(): Promise<void> {
    const startedAt = performance.now()
    const ended = (outcome: 'done' | 'failed') =>
      metrics.jobEnded('credit-revenue', outcome, (performance.now() - startedAt) / 1000, context.clock.now())
    try {
      await creditRevenue(context, stopping.signal)
      ended('done')
      isFailing = false
    } catch (error) {
      ended('failed')
      if (!isFailing) log.warn({ err: error }, 'payments can not be credited now')
      isFailing = true
    }
    if (stopping.signal.aborted) return
    timer = setTimeout(() => {
      running = round()
    }, creditEveryMs)
  }

  return {
    async close() {
      stopping.abort()
      clearTimeout(timer)
      await running
    },
  }
}
