/** Jobs that failed for good, with their reason, until an operator asks for another try. */
import { setAsideJobsRetriedEach } from '../../../schemas/limits/store-limits.ts'
import type { Postgres, Queryable } from '../../client.ts'

export interface SetAsideJob {
  readonly id: number
  readonly job: string
  /** The job's subject; empty where the job is about everything. */
  readonly subject: string
  readonly reason: string
  readonly set_aside_at: Date
  readonly retry_asked_at: Date | null
}

/** The reason of the last time stands. */
export async function setJobAside(q: Queryable, job: string, subject: string, reason: string): Promise<void> {
  await q.query(
    `INSERT INTO set_aside_jobs (job, subject, reason) VALUES ($1, $2, $3)
     ON CONFLICT (job, subject) DO UPDATE SET reason = $3, set_aside_at = now(), retry_asked_at = NULL`,
    [job, subject, reason],
  )
}

/** Removes a job without a subject that has succeeded meanwhile. */
export async function forgetJobAside(q: Queryable, job: string): Promise<void> {
  await q.query(`DELETE FROM set_aside_jobs WHERE job = $1 AND subject = ''`, [job])
}

/**
 * Removes jobs whose subject waits for nobody any more: it went with its workspace, was sent by hand, or was deleted.
 * The names are `deliverWebhook` and `mergeJob` of the pipeline.
 */
export async function forgetEndedJobs(q: Queryable): Promise<void> {
  await q.query(
    `DELETE FROM set_aside_jobs WHERE retry_asked_at IS NULL AND (
       job = 'deliver-webhook' AND NOT EXISTS (
         SELECT FROM webhook_deliveries
         WHERE id = substring(subject FROM '[0-9]+$')::bigint AND status = 'pending' AND next_attempt_at IS NULL)
       OR job = 'merge-inbox-row' AND NOT EXISTS (
         SELECT FROM inbox WHERE event_id = substring(subject FROM '[0-9]+$')::bigint))`,
  )
}

/** Oldest first. */
export function listSetAsideJobs(q: Queryable, max: number): Promise<SetAsideJob[]> {
  return q.query<SetAsideJob>(
    'SELECT id, job, subject, reason, set_aside_at, retry_asked_at FROM set_aside_jobs ORDER BY id LIMIT $1',
    [max],
  )
}

export async function countSetAsideJobs(q: Queryable): Promise<ReadonlyMap<string, number>> {
  const rows = await q.query<{ job: string; count: number }>('SELECT job, count(*) FROM set_aside_jobs GROUP BY job')
  return new Map(rows.map(({ job, count }) => [job, count]))
}

/** Asks for another try of one job, or of all. @returns those that are to be tried again */
export function askForRetry(q: Queryable, id: number | undefined): Promise<SetAsideJob[]> {
  return q.query<SetAsideJob>(
    `UPDATE set_aside_jobs SET retry_asked_at = now() WHERE $1::bigint IS NULL OR id = $1
     RETURNING id, job, subject, reason, set_aside_at, retry_asked_at`,
    [id ?? null],
  )
}

/**
 * Takes those away that an operator wants again, the oldest of very many: whoever runs the job does so now.
 * @returns what they are about
 */
export async function takeAskedRetries(q: Queryable, job: string): Promise<string[]> {
  const rows = await q.query<{ subject: string }>(
    `DELETE FROM set_aside_jobs WHERE id IN (
       SELECT id FROM set_aside_jobs WHERE job = $1 AND retry_asked_at IS NOT NULL ORDER BY id LIMIT $2)
     RETURNING subject`,
    [job, setAsideJobsRetriedEach],
  )
  return rows.map(({ subject }) => subject)
}

/**
 * The same of jobs whose subject ends with an id, `delivery_5`: they are taken and begun again in one transaction.
 * @param again makes the rows of these ids due
 */
export async function retryAsked(
  pg: Postgres,
  job: string,
  again: (tx: Queryable, ids: readonly number[]) => Promise<unknown>,
): Promise<void> {
  await pg.transaction(async (tx) => {
    const asked = await takeAskedRetries(tx, job)
    const ids = asked.map((subject) => Number(subject.split('_').at(-1)))
    if (ids.length > 0) await again(tx, ids)
  })
}
