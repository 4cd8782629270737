/** Runs between two folds: refreshes people's touched figures, and carries out erasures. */
import type { Clock } from '../../runtime/clock.ts'
import type { Log } from '../../runtime/log.ts'
import type { LeasedStores } from '../fold/fold.ts'
import type { PipelineMetrics } from '../pipeline-metrics.ts'
import { eraseNext } from './erase.ts'
import { refreshPeople } from './refresh.ts'

export interface PeopleOptions {
  readonly work: LeasedStores
  readonly clock: Clock
  readonly log: Log
  readonly metrics: PipelineMetrics
  /** Aborted at the stop of the process, which takes the lease away. */
  readonly signal: AbortSignal
}

/**
 * A step that fails is logged, and done again with the next fold: it holds back no figures. Whoever is to be forgotten doesn't
 * wait for figures of people that can't be computed.
 * @returns false: more waits, and can be done at once
 * @throws the error of a step that ended with the process
 */
export async function refreshAndErasePeople({ work, clock, log, metrics, signal }: PeopleOptions): Promise<boolean> {
  const startedAt = performance.now()
  const ended = (outcome: 'done' | 'failed') =>
    metrics.jobEnded('people', outcome, (performance.now() - startedAt) / 1000, clock.now())
  let isWell = true
  const failed = (error: unknown) => {
    if (signal.aborted) throw error
    isWell = false
    log.warn({ err: error }, 'people can not be brought up to date now')
  }
  const isAllDone = (await refreshPeople(work, clock.now()).catch(failed)) ?? true
  await eraseNext(work, clock.now(), log).catch(failed)
  ended(isWell ? 'done' : 'failed')
  return isAllDone
}
