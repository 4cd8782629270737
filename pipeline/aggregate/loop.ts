/**
 * Aggregates every few seconds for as long as the process lives. Of several processes one has the work at a time; what
 * fails is tried again with the next round.
 */
import type { ClickHouse } from '../../clickhouse/client.ts'
import type { Postgres } from '../../postgres/client.ts'
import { readProgress } from '../../postgres/tables/aggregates.ts'
import type { Clock } from '../../runtime/clock.ts'
import type { Log } from '../../runtime/log.ts'
import { sleep } from '../../runtime/retry.ts'
import { withDeadline } from '../../runtime/shutdown.ts'
import {
  aggregateEveryLeastMs,
  aggregateEveryMs,
  aggregatePausePerRun,
  aggregateRowsPerRun,
  aggregateSweepMs,
} from '../../schemas/limits.ts'
import type { PipelineMetrics } from '../pipeline-metrics.ts'
import { makeClaimant } from './claim.ts'
import { deleteUncounted } from './garbage.ts'
import { inHaste, isLate } from './haste.ts'
import { mergeDue } from './merge.ts'
import { aggregate } from './run.ts'

/** For a run to end between two of its statements: within the 20 s of a step of the shutdown. */
const closeDeadlineMs = 15_000

export interface Aggregator {
  /** Ends after the statement that is running, and leaves the work to another process. */
  close(): Promise<void>
}

export interface AggregatorOptions {
  readonly pg: Postgres
  readonly ch: ClickHouse
  readonly clock: Clock
  readonly log: Log
  readonly metrics: PipelineMetrics
}

export function startAggregator({ pg, ch, clock, log, metrics }: AggregatorOptions): Aggregator {
  const stopping = new AbortController()
  const { signal } = stopping
  const { claim, release, work } = makeClaimant(pg, ch, signal)
  const noteLag = makeLagMeter(pg, clock, metrics)
  let isWell = true
  let sweptAt = Number.NEGATIVE_INFINITY
  let aggregatedAt = performance.now()
  let rowsOfLast = 0

  /** Returns how long to wait for the next one. */
  async function round(): Promise<number> {
    if (!(await claim())) return aggregateEveryMs
    const startedAt = performance.now()
    const ended = (outcome: 'done' | 'failed') =>
      metrics.jobEnded('aggregate', outcome, (performance.now() - startedAt) / 1000, clock.now())
    try {
      const sinceLastMs = startedAt - aggregatedAt
      const isInHaste = isLate({ rowsOfLast, sinceLastMs })
      const { rows, generations, isAllTaken } = await aggregate(isInHaste ? { ...work, ch: inHaste(ch) } : work)
      rowsOfLast = rows
      metrics.aggregated(rows, generations)
      const isMergeLeft = await mergeDue(work, isAllTaken)
      if (performance.now() - sweptAt > aggregateSweepMs) {
        await deleteUncounted(work)
        sweptAt = performance.now()
      }
      ended('done')
      const tookMs = performance.now() - startedAt
      const pauseMs = pauseAfter({ rows, sinceLastMs, tookMs })
      aggregatedAt = startedAt
      return !isAllTaken || isMergeLeft ? turnMs : pauseMs
    } catch (error) {
      if (!signal.aborted) ended('failed')
      throw error
    } finally {
      // Between two rounds a command may have a turn.
      await release()
    }
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      let pauseMs: number = aggregateEveryMs
      try {
        pauseMs = await round()
        if (!isWell) log.info('aggregates are written again')
        isWell = true
      } catch (error) {
        if (signal.aborted) break
        if (isWell) log.warn({ err: error }, 'aggregates can not be written now; readers take the raw rows meanwhile')
        isWell = false
      }
      await noteLag()
      await sleep(pauseMs, signal)
    }
  }

  const running = run()
  return {
    close: async () => {
      stopping.abort(new Error('the pipeline is stopping'))
      try {
        await withDeadline(running, closeDeadlineMs, 'ending the aggregation under way')
      } catch (error) {
        log.warn({ err: error }, 'left the aggregation under way: nothing of it counts')
      }
    },
  }
}

/** While there is more to do at once: longer than another process waits between two tries to have its turn. */
const turnMs = 250

/**
 * As long as it takes that the rows of a run come together, of which the last had so many since the one before; and so much
 * longer than it took that the aggregator leaves most of the time to inserts and readers. A session that goes on is
 * counted anew by each run that finds a row of it: of fewer runs each row costs less.
 */
function pauseAfter({ rows, sinceLastMs, tookMs }: { rows: number; sinceLastMs: number; tookMs: number }): number {
  const untilEnoughMs = (sinceLastMs * aggregateRowsPerRun) / Math.max(1, rows)
  return Math.min(aggregateEveryMs, Math.max(aggregateEveryLeastMs, untilEnoughMs, tookMs * aggregatePausePerRun))
}

/** Since when events wait: since the last commit, or since some are seen to, or nobody can say. */
function makeLagMeter(pg: Postgres, clock: Clock, metrics: PipelineMetrics): () => Promise<void> {
  let behindSince: number | undefined
  let revision: number | undefined
  return async () => {
    const progress = await readProgress(pg).catch(() => undefined)
    const isStuck = progress === undefined || (progress.isBehind && progress.revision === revision)
    if (isStuck) behindSince ??= clock.now()
    else behindSince = progress.isBehind ? clock.now() : undefined
    revision = progress?.revision ?? revision
    metrics.aggregateLagIs(behindSince === undefined ? 0 : (clock.now() - behindSince) / 1000)
  }
}
