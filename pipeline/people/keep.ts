/** A round of people's own work, between two folds: applies the inbox, then computes again what that and new events touched. */
import type { Clock } from '../../runtime/clock.ts'
import type { IdentityHashes } from '../../runtime/crypto/identity-hash.ts'
import type { Log } from '../../runtime/log.ts'
import { inboxRowsPerMerge, mergesPerRoundMax } from '../../schemas/limits/people-limits.ts'
import type { Folding } from '../fold/fold.ts'
import type { PipelineMetrics } from '../pipeline-metrics.ts'
import { eraseNext } from './erase.ts'
import { mergeInbox } from './merge.ts'
import { refreshPeople } from './refresh.ts'

export interface PeopleOptions {
  readonly work: Folding
  readonly hashes: IdentityHashes
  readonly clock: Clock
  readonly log: Log
  readonly metrics: PipelineMetrics
}

/**
 * A round that fails is said, and done again with the next fold: it holds back no figures.
 * @returns false: more waits, and can be done at once
 */
export async function keepPeople({ work, hashes, clock, log, metrics }: PeopleOptions): Promise<boolean> {
  const startedAt = performance.now()
  const ended = (outcome: 'done' | 'failed') =>
    metrics.jobEnded('people', outcome, (performance.now() - startedAt) / 1000, clock.now())
  try {
    const isAllMerged = await mergeSome({ work, hashes, clock, log }, mergesPerRoundMax)
    const isAllDone = await refreshPeople(work, clock.now())
    await eraseNext(work, clock.now())
    ended('done')
    return isAllDone && isAllMerged
  } catch (error) {
    ended('failed')
    log.warn({ err: error }, 'people can not be brought up to date now')
    return true
  }
}

/**
 * Before a fold: who came since the last round is a contact by then, the figures follow after it. One portion, because the fold
 * waits for it. A failure is said by `keepPeople`.
 */
export async function mergeEarly(options: Omit<PeopleOptions, 'metrics'>): Promise<void> {
  await mergeSome(options, 1).catch(() => {})
}

/** @returns whether none is left */
async function mergeSome(
  { work, hashes, clock, log }: Omit<PeopleOptions, 'metrics'>,
  portionsMax: number,
): Promise<boolean> {
  let rows = inboxRowsPerMerge
  for (let nth = 0; nth < portionsMax && rows === inboxRowsPerMerge; nth++) {
    await work.beforeEach()
    rows = await mergeInbox({ pg: work.pg, hashes, log, now: clock.now() })
  }
  return rows < inboxRowsPerMerge
}
