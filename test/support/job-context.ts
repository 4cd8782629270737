/** A pipeline job's context, over the stores of a test. */
import { makePipelineMetrics } from '../../pipeline/pipeline-metrics.ts'
import type { JobContext } from '../../pipeline/queue/job.ts'
import { fixedClock } from '../../runtime/clock.ts'
import { makeLog } from '../../runtime/log.ts'
import { makeMetrics } from '../../runtime/metrics.ts'
import type { TestStores } from './stores.ts'

export function jobContext({ pg, ch }: Pick<TestStores, 'pg' | 'ch'>, now: number): JobContext {
  const metrics = makePipelineMetrics(makeMetrics('test', false))
  const { signal } = new AbortController()
  return { pg, ch, clock: fixedClock(now), log: makeLog('test', 'silent'), metrics, signal }
}
