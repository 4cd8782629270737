/**
 * Aggregates every few seconds for as long as the process lives. Of several processes one has the work at a time; what
 * fails is tried again with the next round.
 */
import { randomUUID } from 'node:crypto'
import type { ClickHouse } from '../../clickhouse/client.ts'
import type { Postgres } from '../../postgres/client.ts'
import { claimAggregation, releaseAggregation } from '../../postgres/tables/aggregates.ts'
import type { Clock } from '../../runtime/clock.ts'
import type { Log } from '../../runtime/log.ts'
import { sleep } from '../../runtime/retry.ts'
import { withDeadline } from '../../runtime/shutdown.ts'
import { aggregateClaimMs, aggregateEveryMs, aggregateSweepMs } from '../../schemas/limits.ts'
import type { PipelineMetrics } from '../pipeline-metrics.ts'
import { deleteUncounted } from './garbage.ts'
import { mergeDue } from './merge.ts'
import { type Aggregating, aggregate } from './run.ts'

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
  const name = randomUUID()
  const stopping = new AbortController()
  const { signal } = stopping
  let isWell = true
  /** Since when there have been rows that wait. */
  let behindSince: number | undefined

  let sweptAt = Number.NEGATIVE_INFINITY
  const work: Aggregating = {
    pg,
    ch,
    beforeEach: async () => {
      signal.throwIfAborted()
      if (!(await claimAggregation(pg, name, aggregateClaimMs))) throw new Error('another process aggregates now')
    },
  }

  /** Returns whether there is more to do at once. */
  async function round(): Promise<boolean> {
    if (!(await claimAggregation(pg, name, aggregateClaimMs))) {
      behindSince = undefined
      metrics.aggregateLagIs(0)
      return false
    }
    const startedAt = performance.now()
    const ended = (outcome: 'done' | 'failed') =>
      metrics.jobEnded('aggregate', outcome, (performance.now() - startedAt) / 1000, clock.now())
    try {
      behindSince ??= clock.now()
      const { rows, generations, isAllTaken } = await aggregate(work)
      if (isAllTaken) behindSince = undefined
      metrics.aggregated(rows, generations)
      const isMergeLeft = await mergeDue(work, isAllTaken)
      if (performance.now() - sweptAt > aggregateSweepMs) {
        await deleteUncounted(work)
        sweptAt = performance.now()
      }
      ended('done')
      return !isAllTaken || isMergeLeft
    } catch (error) {
      if (!signal.aborted) ended('failed')
      throw error
    } finally {
      metrics.aggregateLagIs(behindSince === undefined ? 0 : (clock.now() - behindSince) / 1000)
    }
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      let isMore = false
      try {
        isMore = await round()
        if (!isWell) log.info('aggregates are written again')
        isWell = true
      } catch (error) {
        if (signal.aborted) break
        if (isWell) log.warn({ err: error }, 'aggregates can not be written now; readers take the raw rows meanwhile')
        isWell = false
      }
      if (!isMore) await sleep(aggregateEveryMs, signal)
    }
    await releaseAggregation(pg, name)
  }

  const running = run()
  // Where nobody waits any more, nothing is to be done about it: the claim runs out.
  running.catch(() => {})
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
