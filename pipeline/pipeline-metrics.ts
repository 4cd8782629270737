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
  /** After a fold: the session rows that it wrote. */
  folded(sessions: number): void
  foldLagIs(seconds: number): void
}

export function makePipelineMetrics(metrics: Metrics): PipelineMetrics {
  const runs = metrics.counter('svc_job_runs_total', 'Runs of a job, failed ones included.', ['job', 'outcome'])
  const seconds = metrics.histogram('svc_job_seconds', 'How long a run took.', [0.1, 1, 10, 60, 600, 3600], ['job'])
  const last = metrics.gauge('svc_job_last_success_seconds', 'Unix time of the last run that succeeded.', ['job'])
  const expired = metrics.counter('svc_expired_rows_total', 'Rows deleted at the end of their retention.', ['table'])
  const queued = metrics.gauge('svc_queue_jobs', 'Jobs in the queue, by state.', ['state'])
  const folded = metrics.counter('svc_folded_sessions_total', 'Rows of sessions that folds wrote.')
  const lag = metrics.gauge('svc_fold_lag_seconds', 'For how long there have been events that wait for a fold.')
  const clockOff = metrics.gauge(
    'svc_clock_off_seconds',
    "By how much a store's clock was ahead of this machine's when data was to be deleted.",
    ['store'],
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
    folded: (sessions) => folded.inc(sessions),
    foldLagIs: (behind) => lag.set(behind),
    clockIsOff: (store, ahead) => clockOff.set({ store }, ahead),
    redisIs: (reachable) => redis.set(reachable ? 1 : 0),
  }
}
