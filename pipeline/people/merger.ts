/** Applies the inbox for as long as the process runs, beside the fold: who is identified is a contact at once, however long a fold takes. */
import type { Postgres } from '../../postgres/client.ts'
import type { Clock } from '../../runtime/clock.ts'
import type { IdentityHashes } from '../../runtime/crypto/identity-hash.ts'
import type { Log } from '../../runtime/log.ts'
import { sleep } from '../../runtime/retry.ts'
import { inboxRowsPerMerge, mergeEveryMs } from '../../schemas/limits/people-limits.ts'
import type { PipelineMetrics } from '../pipeline-metrics.ts'
import { mergeInbox } from './merge.ts'

export interface Merger {
  /** Ends after the transaction that is running, and waits for it. */
  close(): Promise<void>
}

export interface MergerOptions {
  readonly pg: Postgres
  readonly hashes: IdentityHashes
  readonly clock: Clock
  readonly log: Log
  readonly metrics: PipelineMetrics
}

export function startMerger({ pg, hashes, clock, log, metrics }: MergerOptions): Merger {
  const stopping = new AbortController()
  const { signal } = stopping
  let isFailing = false

  /** @returns whether more rows wait */
  async function mergeSome(): Promise<boolean> {
    const startedAt = performance.now()
    const ended = (outcome: 'done' | 'failed') =>
      metrics.jobEnded('merge', outcome, (performance.now() - startedAt) / 1000, clock.now())
    try {
      const rows = await mergeInbox({ pg, hashes, log, now: clock.now() })
      ended('done')
      isFailing = false
      return rows === inboxRowsPerMerge
    } catch (error) {
      ended('failed')
      if (!isFailing) log.warn({ err: error }, 'who is identified can not be merged now')
      isFailing = true
      return false
    }
  }

  async function run(): Promise<void> {
    while (!signal.aborted) if (!(await mergeSome())) await sleep(mergeEveryMs, signal)
  }

  const running = run()
  return {
    close: async () => {
      stopping.abort()
      await running
    },
  }
}
