/** Updates the metrics of the queues in Postgres and of jobs that were set aside. */
import type { Postgres } from '../../postgres/client.ts'
import { readQueues } from '../../postgres/tables/queues.ts'
import { countSetAsideJobs } from '../../postgres/tables/set-aside-jobs.ts'
import { sleep } from '../../runtime/retry.ts'
import type { PipelineMetrics } from '../pipeline-metrics.ts'

const everyMs = 5_000

export function watchQueues(pg: Postgres, metrics: PipelineMetrics): { close(): Promise<void> } {
  const stopping = new AbortController()

  async function look(): Promise<void> {
    for (const [queue, { depth, ageSeconds }] of Object.entries(await readQueues(pg))) {
      metrics.dueIs(queue, depth, ageSeconds)
    }
    metrics.setAsideAre(await countSetAsideJobs(pg))
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      // Said by those who work on the queues, which need Postgres as well.
      await look().catch(() => {})
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
