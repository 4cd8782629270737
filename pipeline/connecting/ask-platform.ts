/** Asks a platform while somebody waits: through the address guard, within a time, and with refusals in the platform's words. */
import { within } from '../../runtime/deadline.ts'
import { makeGuardedAgent } from '../../runtime/outbound/guarded-agent.ts'
import { accountCheckMs, providerRequestMs } from '../../schemas/limits/publish-limits.ts'
import { type Platform, providers } from '../../schemas/reference/providers.ts'
import { ProviderError, type Reach } from '../publishing/adapter.ts'
import { ConnectingRefused } from './connecting-refused.ts'
import { withoutSecret } from './without-secret.ts'

export interface AskOptions {
  /** Servers that somebody names may be on this machine and in private networks. */
  readonly allowPrivate: boolean
  readonly signal: AbortSignal
}

/**
 * @param secret parts that no refusal shows, as `withoutSecret` reads it
 * @throws ConnectingRefused where the platform doesn't take it, or doesn't answer in time
 */
export async function askPlatform<Answer>(
  platform: Platform,
  secret: string,
  { allowPrivate, signal }: AskOptions,
  work: (reach: Reach) => Promise<Answer>,
): Promise<Answer> {
  const { label } = providers[platform]
  const agent = makeGuardedAgent({ allowPrivate, connectMs: providerRequestMs })
  try {
    return await within(accountCheckMs, signal, (ending) =>
      work({ fetching: { agent, allowPrivate }, signal: ending }).catch((error) => {
        if (ending.aborted && !signal.aborted) {
          throw new ConnectingRefused(null, `${label} couldn't be asked: The platform did not answer in time`)
        }
        if (!(error instanceof ProviderError)) throw error
        const failed = error.failure.code === 'unreachable' ? "couldn't be asked" : "didn't take it"
        throw new ConnectingRefused(null, `${label} ${failed}: ${withoutSecret(error.message, secret)}`)
      }),
    )
  } finally {
    await agent.destroy()
  }
}
