/**
 * Folds for as long as the process lives. One process has the lease at a time; a failed step is tried again with the
 * next round. A fold begins `foldEveryMs` after the last one began. A long fold is followed by a pause of a third of its
 * time, which leaves merges and questions at least a quarter. While more events wait there is no pause.
 */
import { readFoldProgress } from '../../postgres/tables/figures/folds.ts'
import { sleep } from '../../runtime/retry.ts'
import { withDeadline } from '../../runtime/shutdown.ts'
import {
  buildRetryMs,
  closeDaysEveryMs,
  foldEveryMs,
  longRenewalMs,
  longRenewalPause,
  lookForBuildsEveryMs,
  renewalPause,
} from '../../schemas/limits/figure-limits.ts'
import { refreshAndErasePeople } from '../people/refresh-and-erase.ts'
import type { JobContext } from '../queue/job.ts'
import { BuildError, beginAndDeleteBuilds, buildNextPart } from './build.ts'
import { fold } from './fold.ts'
import { makeFoldLease } from './lease.ts'
import { CellsError, closeDays, renewCells } from './write-cells.ts'

/** For a fold to end between two of its statements: within the 20 s of a step of the shutdown. */
const closeDeadlineMs = 15_000

export interface FoldLoop {
  /** Ends after the statement that is running, and releases the lease to another process. */
  close(): Promise<void>
}

export type FoldLoopContext = Omit<JobContext, 'signal'>

export function startFoldLoop({ pg, ch, clock, log, metrics }: FoldLoopContext): FoldLoop {
  const stopping = new AbortController()
  const { signal } = stopping
  const { take, release, work } = makeFoldLease(pg, ch, signal)
  const isDue = makeTimers()
  let isWell = true

  /** @returns how long to wait for the next one */
  async function round(): Promise<number> {
    if (!(await take())) return foldEveryMs
    const startedAt = performance.now()
    const seconds = () => (performance.now() - startedAt) / 1000
    try {
      const { sessions, isAllTaken } = await fold(work)
      metrics.folded(sessions)
      if (isAllTaken) await closeSome()
      const renewedMs = isAllTaken ? await renewSome() : 0
      if (isDue('builds', lookForBuildsEveryMs)) await beginAndDeleteBuilds(work).catch(warnOfBuilds)
      const isPeopleWorkDone = await refreshAndErasePeople({ work, clock, log, metrics, signal })
      const isBuilding = isAllTaken && (await buildSome())
      metrics.jobEnded('fold', 'done', seconds(), clock.now())
      if (!isAllTaken || isBuilding || !isPeopleWorkDone) return yieldMs
      const tookMs = seconds() * 1000 - renewedMs
      return Math.max(foldEveryMs - tookMs, tookMs / 3)
    } catch (error) {
      if (!signal.aborted) metrics.jobEnded('fold', 'failed', seconds(), clock.now())
      throw error
    } finally {
      // Between two rounds a command may take the lease.
      await release()
    }
  }

  /** Where cells can't be written, figures stay right: the days are counted from `sessions`. */
  function warnOfCells(error: unknown): void {
    if (signal.aborted || !(error instanceof CellsError)) throw error
    log.warn({ err: error.cause }, 'cells can not be written now; it is tried again later')
  }

  /** Folds, people and erasures don't wait for them. */
  function warnOfBuilds(error: unknown): void {
    if (signal.aborted) throw error
    log.warn({ err: error }, 'builds of figures can not be begun or deleted now; it is tried again later')
  }

  /** By build: when `closeDays` may try it again, as `performance.now()`. */
  const heldUntil = new Map<number, number>()
  let closeFrom = 0

  async function closeSome(): Promise<void> {
    const startedAt = performance.now()
    if (startedAt < closeFrom) return
    try {
      await closeDays(work, clock.now(), heldUntil)
    } catch (error) {
      warnOfCells(error)
    } finally {
      // Not from its begin: a statement that fails by its deadline takes longer than the interval.
      const endedAt = performance.now()
      closeFrom = endedAt + Math.max(closeDaysEveryMs, renewalPause * (endedAt - startedAt))
    }
  }

  let renewFrom = 0

  /** @returns how long it took, in milliseconds */
  async function renewSome(): Promise<number> {
    const startedAt = performance.now()
    if (startedAt < renewFrom) return 0
    let isFailed = false
    try {
      if (!(await renewCells(work))) return 0
    } catch (error) {
      warnOfCells(error)
      isFailed = true
    }
    const endedAt = performance.now()
    const tookMs = endedAt - startedAt
    renewFrom = endedAt + tookMs * (tookMs > longRenewalMs && !isFailed ? longRenewalPause : renewalPause)
    return tookMs
  }

  /** By build, as `performance.now()`. */
  const pausedUntil = new Map<number, number>()

  /** A build that fails waits for a while: folds and other builds go on. */
  async function buildSome(): Promise<boolean> {
    const startedAt = performance.now()
    for (const [build, until] of pausedUntil) if (until <= startedAt) pausedUntil.delete(build)
    const ended = (outcome: 'done' | 'failed') =>
      metrics.jobEnded('build-figures', outcome, (performance.now() - startedAt) / 1000, clock.now())
    try {
      const isDone = await buildNextPart(work, clock.now(), new Set(pausedUntil.keys()))
      if (isDone) ended('done')
      return isDone
    } catch (error) {
      if (signal.aborted || !(error instanceof BuildError)) throw error
      ended('failed')
      // From its end: a part that runs into its deadline takes longer than the pause.
      pausedUntil.set(error.build.build, performance.now() + buildRetryMs)
      log.warn({ err: error.cause, workspace_id: error.build.workspaceId }, `${error.message}; it is tried again later`)
      return true
    }
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      let pauseMs: number = foldEveryMs
      try {
        pauseMs = await round()
        if (!isWell) log.info('events are folded again')
        isWell = true
      } catch (error) {
        if (signal.aborted) break
        if (isWell) log.warn({ err: error }, 'events can not be folded now; figures stay as of the last fold')
        isWell = false
      }
      const progress = await readFoldProgress(pg).catch(() => undefined)
      if (progress !== undefined) metrics.foldLagIs(progress.lagMs / 1000)
      await sleep(pauseMs, signal)
    }
  }

  const running = run()
  return {
    close: async () => {
      stopping.abort(new Error('the pipeline is stopping'))
      try {
        await withDeadline(running, closeDeadlineMs, 'ending the fold under way')
      } catch (error) {
        log.warn({ err: error }, 'left the fold under way: the next one does it again')
      }
    },
  }
}

/** While there is more to do at once: longer than another process waits between two tries to take the lease. */
const yieldMs = 150

/** Says whether `everyMs` have gone by since it last said so for the name; at first it says yes. */
function makeTimers(): (name: string, everyMs: number) => boolean {
  const lastAt = new Map<string, number>()
  return (name, everyMs) => {
    if (performance.now() - (lastAt.get(name) ?? Number.NEGATIVE_INFINITY) < everyMs) return false
    lastAt.set(name, performance.now())
    return true
  }
}
