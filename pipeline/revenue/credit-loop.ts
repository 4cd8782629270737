/** Credits payments for as long as the process runs. Several processes may do it at once: each computes the same. */
import type { Log } from '../../runtime/log.ts'
import { creditEveryMs } from '../../schemas/limits/revenue-limits.ts'
import { type JobLoop, startJobLoop } from '../job-loop.ts'
import type { PipelineMetrics } from '../pipeline-metrics.ts'
import { type Crediting, creditRevenue } from './credit-payments.ts'

/** Payments stay due until they are credited: a store that is away delays them. */
export function startCreditLoop(context: Crediting, { log, metrics }: { log: Log; metrics: PipelineMetrics }): JobLoop {
  const options = {
    ...{ name: 'credit-revenue', whenFailing: 'payments can not be credited now' },
    ...{ pauseMs: creditEveryMs, clock: context.clock, log, metrics },
  }
  return startJobLoop(options, async (signal) => {
    await creditRevenue(context, signal)
    return false
  })
}
