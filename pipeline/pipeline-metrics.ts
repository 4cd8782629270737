/** What the pipeline tells of itself at /metrics. */
import type { Metrics } from '../runtime/metrics.ts'

export type ExpiredTable =
  | 'events'
  | 'bot_visits'
  | 'link_clicks'
  | 'inbox'
  | 'contact_sightings'
  | 'shipped_manifests'
  | 'visitor_salts'
  | 'idempotency_records'

export interface PipelineMetrics {
  jobEnded(job: string, outcome: 'done' | 'failed', seconds: number, nowMs: number): void
  rowsExpired(table: ExpiredTable, rows: number): void
  queueIs(state: string, jobs: number): void
  redisIs(reachable: boolean): void
  /** By how much the store's clock is ahead of this machine's; below 0, behind. */
  clockIsOff(store: string, seconds: number): void
  /** After a run: the rows of events that it took up, and the generations that count now. */
  aggregated(rows: number, generations: number): void
  aggregateLagIs(seconds: number): void
  /** Of the days that were compared last. */
  aggregateDifferencesAre(differences: number): void
}

export function makePipelineMetrics(metrics: Metrics): PipelineMetrics {
  const runs = metrics.counter('svc_job_runs_total', 'Runs of a job, failed ones included.', ['job', 'outcome'])
  const seconds = metrics.histogram('svc_job_seconds', 'How long a run took.', [0.1, 1, 10, 60, 600, 3600], ['job'])
  const last = metrics.gauge('svc_job_last_success_seconds', 'Unix time of the last run that succeeded.', ['job'])
  const expired = metrics.counter('svc_expired_rows_total', 'Rows deleted at the end of their retention.', ['table'])
  const queued = metrics.gauge('svc_queue_jobs', 'Jobs in the queue, by state.', ['state'])
  const aggregated = metrics.counter('svc_aggregated_rows_total', 'Events that were taken into the aggregates.')
  const generations = metrics.gauge('svc_aggregate_generations', 'Generations of aggregates that count.')
  const lag = metrics.gauge('svc_aggregate_lag_seconds', 'For how long there have been events that wait for it.')
  const clockOff = metrics.gauge(
    'svc_clock_off_seconds',
    "By how much a store's clock was ahead of this machine's when data was to be deleted.",
    ['store'],
  )
  const differences = metrics.gauge(
    'svc_aggregate_differences',
    'Differences between aggregates and events that the last comparison found.',
  )
  const redis = metrics.gauge('svc_redis_up', 'Whether Redis could be reached, 1 or 0.')
  return {
    jobEnded: (job, outcome, took, nowMs) => {
      runs.inc({ job, outcome })
      seconds.observe({ job }, took)
      if (outcome === 'done') last.set({ job }, nowMs / 1000)
    },
    rowsExpired: (table, rows) => expired.inc({ table }, rows),
    queueIs: (state, jobs) => queued.set({ state }, jobs),
    aggregated: (rows, live) => {
      aggregated.inc(rows)
      generations.set(live)
    },
    aggregateLagIs: (behind) => lag.set(behind),
    clockIsOff: (store, ahead) => clockOff.set({ store }, ahead),
    aggregateDifferencesAre: (found) => differences.set(found),
    redisIs: (reachable) => redis.set(reachable ? 1 : 0),
  }
}
