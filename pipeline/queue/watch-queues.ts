/** Updates the metrics that Postgres alone knows for all pipelines: queues, jobs that were set aside or succeeded. */
import type { Postgres } from '../../postgres/client.ts'
import { readJobSuccesses } from '../../postgres/tables/operation/job-successes.ts'
import { readQueues } from '../../postgres/tables/operation/queues.ts'
import { countSetAsideJobs } from '../../postgres/tables/operation/set-aside-jobs.ts'
import { sleep } from '../../runtime/retry.ts'
import type { PipelineMetrics } from '../pipeline-metrics.ts'

const lookEveryMs = 5_000

export function watchQueues(pg: Postgres, metrics: PipelineMetrics, everyMs = lookEveryMs): { close(): Promise<void> } {
  const stopping = new AbortController()

  async function look(): Promise<void> {
    for (const [queue, { depth, ageSeconds }] of Object.entries(await readQueues(pg))) {
      metrics.dueIs(queue, depth, ageSeconds)
    }
    metrics.setAsideAre(await countSetAsideJobs(pg))
    metrics.succeededAt(await readJobSuccesses(pg))
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      // Logged by those who work on the queues, which need Postgres as well. Other gauges keep their last values meanwhile.
      await look().then(
        () => metrics.postgresIs(true),
        () => metrics.postgresIs(false),
      )
      await sleep(everyMs, stopping.signal)
    }
  }

  const running = run()
  return {
    close: async () => {
      stopping.abort()
      await running
    },
  }
}
