/** The pipeline's metrics at /metrics. */
import type { Metrics } from '../runtime/metrics.ts'

export type ExpiredTable =
  | 'events'
  | 'bot_visits'
  | 'link_clicks'
  | 'replay_chunks'
  | 'inbox'
  | 'contact_sightings'
  | 'connected_apps'
  | 'oauth_clients'
  | 'account_sign_ins'
  | 'contacts'
  | 'identity_facts'
  | 'person_credits'
  | 'erasures'
  | 'shipped_manifests'
  | 'visitor_salts'
  | 'idempotency_records'
  | 'webhook_deliveries'
  | 'outbox'

export interface PipelineMetrics {
  jobEnded(job: string, outcome: 'done' | 'failed', seconds: number, nowMs: number): void
  rowsExpired(table: ExpiredTable, rows: number): void
  queueIs(state: string, jobs: number): void
  /** For a queue in Postgres: the number of due rows, and for how long the first has been due. */
  dueIs(queue: string, depth: number, ageSeconds: number): void
  /** Jobs that failed for good, by name. */
  setAsideAre(jobs: ReadonlyMap<string, number>): void
  /** Unix times in seconds of scheduled jobs, in whichever pipeline, by name. */
  succeededAt(times: ReadonlyMap<string, number>): void
  /** An attempt on a delivery, with the delivery's state after it. */
  webhookAttempted(outcome: 'delivered' | 'pending' | 'failed', seconds: number): void
  postgresIs(reachable: boolean): void
  redisIs(reachable: boolean): void
  /** By how much the store's clock is ahead of this machine's; below 0, behind. */
  clockIsOff(store: string, seconds: number): void
  /** After a fold: the session rows that it wrote. */
  folded(sessions: number): void
  foldLagIs(seconds: number): void
  /** After an attempt was settled. */
  published(outcome: 'published' | 'failed' | 'retried'): void
  publishBacklogIs(targets: number, oldestSeconds: number): void
  /** After posts were asked for on their network: they have figures, are there no more, could not be read, or wait for a limit. */
  engagementRead(outcome: 'read' | 'gone' | 'failed' | 'limited', posts: number): void
  /** After an attempt to send a report or an alert. */
  reported(way: 'mail' | 'chat', outcome: 'sent' | 'failed' | 'retried'): void
  /** After an attempt to send a mail about an account. */
  accountMailed(outcome: 'sent' | 'failed' | 'retried'): void
}

export function makePipelineMetrics(metrics: Metrics): PipelineMetrics {
  const runs = metrics.counter('svc_job_runs_total', 'Runs of a job, failed ones included.', ['job', 'outcome'])
  const seconds = metrics.histogram('svc_job_seconds', 'How long a run took.', [0.1, 1, 10, 60, 600, 3600], ['job'])
  const last = metrics.gauge('svc_job_last_success_seconds', 'Unix time of the last run that succeeded.', ['job'])
  const expired = metrics.counter('svc_expired_rows_total', 'Rows deleted at the end of their retention.', ['table'])
  const queued = metrics.gauge('svc_queue_jobs', 'Jobs in the queue, by state.', ['state'])
  const due = metrics.gauge('svc_queue_depth', 'What is due in a queue that Postgres holds.', ['queue'])
  const age = metrics.gauge('svc_queue_age_seconds', 'For how long the first of it has been due.', ['queue'])
  const setAside = metrics.gauge('svc_set_aside_jobs', 'Jobs that failed for good, see svc jobs list.', ['job'])
  const attempts = metrics.counter('svc_webhook_attempts_total', 'Attempts on deliveries to webhooks.', ['outcome'])
  const attemptSeconds = metrics.histogram(
    'svc_webhook_attempt_seconds',
    'How long an attempt took.',
    [0.01, 0.05, 0.1, 0.5, 1, 5, 15],
  )
  const folded = metrics.counter('svc_folded_sessions_total', 'Rows of sessions that folds wrote.')
  const lag = metrics.gauge('svc_fold_lag_seconds', 'For how long there have been events that wait for a fold.')
  const published = metrics.counter('svc_publish_attempts_total', 'Attempts to publish, by what came of it.', [
    'outcome',
  ])
  const publishDue = metrics.gauge('svc_publish_due_targets', 'Targets of posts that are due and not settled.')
  const dueAge = metrics.gauge('svc_publish_lag_seconds', 'For how long the oldest of them has been due.')
  const engagement = metrics.counter(
    'svc_engagement_reads_total',
    'Published posts that were asked for on their networks, by outcome.',
    ['outcome'],
  )
  const reported = metrics.counter(
    'svc_report_mails_total',
    'Attempts to send reports and alerts by e-mail, by outcome.',
    ['outcome'],
  )
  const chatMessages = metrics.counter(
    'svc_chat_messages_total',
    'Attempts to send reports and alerts to chats, by outcome.',
    ['outcome'],
  )
  const accountMails = metrics.counter(
    'svc_account_mails_total',
    'Attempts to send mails about accounts, by outcome.',
    ['outcome'],
  )
  const clockOff = metrics.gauge(
    'svc_clock_off_seconds',
    "By how much a store's clock was ahead of this machine's when data was to be deleted.",
    ['store'],
  )
  const postgres = metrics.gauge('svc_postgres_up', 'Whether Postgres could be asked about queues, 1 or 0.')
  const redis = metrics.gauge('svc_redis_up', 'Whether Redis could be reached, 1 or 0.')
  return {
    jobEnded: (job, outcome, took, nowMs) => {
      runs.inc({ job, outcome })
      seconds.observe({ job }, took)
      if (outcome === 'done') last.set({ job }, nowMs / 1000)
    },
    rowsExpired: (table, rows) => expired.inc({ table }, rows),
    queueIs: (state, jobs) => queued.set({ state }, jobs),
    dueIs: (queue, depth, ageSeconds) => {
      due.set({ queue }, depth)
      age.set({ queue }, ageSeconds)
    },
    setAsideAre: (jobs) => {
      setAside.reset()
      for (const [job, count] of jobs) setAside.set({ job }, count)
    },
    succeededAt: (times) => {
      for (const [job, at] of times) last.set({ job }, at)
    },
    webhookAttempted: (outcome, took) => {
      attempts.inc({ outcome })
      attemptSeconds.observe(took)
    },
    folded: (sessions) => folded.inc(sessions),
    foldLagIs: (behind) => lag.set(behind),
    published: (outcome) => published.inc({ outcome }),
    publishBacklogIs: (targets, oldest) => {
      publishDue.set(targets)
      dueAge.set(oldest)
    },
    engagementRead: (outcome, posts) => engagement.inc({ outcome }, posts),
    reported: (way, outcome) => (way === 'mail' ? reported : chatMessages).inc({ outcome }),
    accountMailed: (outcome) => accountMails.inc({ outcome }),
    clockIsOff: (store, ahead) => clockOff.set({ store }, ahead),
    postgresIs: (reachable) => postgres.set(reachable ? 1 : 0),
    redisIs: (reachable) => redis.set(reachable ? 1 : 0),
  }
}
