/** Applies the inbox beside the fold: who is identified is a contact at once, however long a fold takes. */
import type { Postgres } from '../../postgres/client.ts'
import type { Clock } from '../../runtime/clock.ts'
import type { IdentityHashes } from '../../runtime/crypto/identity-hash.ts'
import type { Log } from '../../runtime/log.ts'
import { inboxRowsPerMerge, mergeEveryMs } from '../../schemas/limits/people-limits.ts'
import { type JobLoop, startJobLoop } from '../job-loop.ts'
import type { PipelineMetrics } from '../pipeline-metrics.ts'
import { mergeInbox } from './merge.ts'

export interface MergerOptions {
  readonly pg: Postgres
  readonly hashes: IdentityHashes
  readonly clock: Clock
  readonly log: Log
  readonly metrics: PipelineMetrics
}

export function startMerger({ pg, hashes, clock, log, metrics }: MergerOptions): JobLoop {
  const options = {
    ...{ name: 'merge', whenFailing: 'who is identified can not be merged now' },
    ...{ pauseMs: mergeEveryMs, clock, log, metrics },
  }
  return startJobLoop(options, async () => {
    const rows = await mergeInbox({ pg, hashes, log, now: clock.now() })
    return rows === inboxRowsPerMerge
  })
}
