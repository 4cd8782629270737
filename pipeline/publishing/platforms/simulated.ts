/** Publishes nowhere. Words in the caption make it fail: see docs/posts.md. */
import { simulatedPublishMs, simulatedRateLimitMs } from '../../../schemas/limits/publish-limits.ts'
import { type Adapter, ProviderError, type Publication } from '../adapter.ts'

/** By its key a repeat is the same publication. */
const published = ({ key }: Publication) => ({ externalId: key, url: `https://simulated.invalid/posts/${key}` })

export const simulated: Adapter<null, null> = {
  name: 'simulated',
  lookUp: async () => null,
  prepare: async () => null,
  async publish({ sleep, signal }, publication) {
    await sleep(simulatedPublishMs, signal)
    if (publication.text.includes('[simulate:fail]')) {
      throw new ProviderError({ kind: 'permanent', code: 'simulated_failure' }, 'The caption asks for a failure')
    }
    if (publication.text.includes('[simulate:rate_limit]')) {
      const wait = { retryAfterMs: simulatedRateLimitMs, isSimulated: true }
      const failure = { kind: 'rate_limited', code: 'rate_limited', ...wait } as const
      throw new ProviderError(failure, 'The caption asks for a rate limit')
    }
    return published(publication)
  },
}
