/** The context of every job. */
import type { ClickHouse } from '../../clickhouse/client.ts'
import type { Postgres } from '../../postgres/client.ts'
import type { Clock } from '../../runtime/clock.ts'
import type { Log } from '../../runtime/log.ts'
import type { JobName } from '../../schemas/jobs.ts'
import type { PipelineMetrics } from '../pipeline-metrics.ts'

export interface JobContext {
  readonly pg: Postgres
  readonly ch: ClickHouse
  readonly clock: Clock
  readonly log: Log
  readonly metrics: PipelineMetrics
  /** Aborted when the process stops: a long job ends between two of its steps and is run again later. */
  readonly signal: AbortSignal
}

/** Idempotent: it may be run again at any time, also while it is running elsewhere. A rejection is retried with backoff. */
type Job = (context: JobContext) => Promise<void>

export type Jobs = Readonly<Record<JobName, Job>>
