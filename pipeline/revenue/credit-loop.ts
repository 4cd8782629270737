/** Credits payments for as long as the process runs. Several processes may do it at once: the first result of a payment that is written counts. */
import { creditEveryMs } from '../../schemas/limits/revenue-limits.ts'
import { type JobLoop, type JobLoopContext, startJobLoop } from '../job-loop.ts'
import { type Crediting, creditRevenue } from './credit-payments.ts'

/** Payments stay due until they are credited: a store that is away delays them. */
export function startCreditLoop(context: Crediting & JobLoopContext): JobLoop {
  const job = { name: 'credit-revenue', whenFailing: 'payments can not be credited now', pauseMs: creditEveryMs }
  return startJobLoop(context, job, async (signal) => {
    await creditRevenue(context, signal)
    return false
  })
}
