/** When scheduled jobs last succeeded, for the metrics of every pipeline. */
import type { Queryable } from '../../client.ts'

export async function noteJobSuccess(q: Queryable, job: string): Promise<void> {
  await q.query(
    'INSERT INTO job_successes (job) VALUES ($1) ON CONFLICT (job) DO UPDATE SET succeeded_at = EXCLUDED.succeeded_at',
    [job],
  )
}

/** Unix times in seconds, by job. */
export async function readJobSuccesses(q: Queryable): Promise<ReadonlyMap<string, number>> {
  const rows = await q.query<{ job: string; at: number }>(
    'SELECT job, extract(epoch FROM succeeded_at)::float8 AS at FROM job_successes',
  )
  return new Map(rows.map(({ job, at }) => [job, at]))
}
