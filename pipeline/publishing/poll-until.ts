/** Asks a platform at growing intervals whether it has done with an uploaded file. */
import { providerPollMaxMs, providerPollMs } from '../../schemas/limits/publish-limits.ts'
import { type Pausing, ProviderError } from './adapter.ts'

/**
 * A limit that the question meets is waited out: another upload would cost more.
 * @param isDone a number instead of false: the least milliseconds until the platform is to be asked again
 * @throws on `signal`, the end of the attempt
 */
export async function pollUntil({ sleep, signal }: Pausing, isDone: () => Promise<boolean | number>): Promise<void> {
  let waitMs = providerPollMs
  let leastMs = 0
  for (;;) {
    await sleep(Math.max(waitMs, leastMs), signal)
    signal.throwIfAborted()
    waitMs = Math.min(2 * waitMs, providerPollMaxMs)
    try {
      const answer = await isDone()
      if (answer === true) return
      leastMs = answer === false ? 0 : answer
    } catch (error) {
      if (!(error instanceof ProviderError) || error.failure.kind !== 'rate_limited') throw error
      leastMs = error.failure.retryAfterMs ?? 0
    }
  }
}
