/** How much is due in the queues that Postgres holds, and for how long. Posts have a count of their own: publishing.ts. */
import type { Queryable } from '../../client.ts'

export interface QueueState {
  readonly depth: number
  /** For how long the first of them has been due. */
  readonly ageSeconds: number
}

/** Due rows of each queue, and since when. */
const queues = {
  /** Events that have no deliveries yet. */
  outbox: 'SELECT created_at AS since FROM outbox WHERE fanned_out_at IS NULL',
  webhooks: `SELECT next_attempt_at AS since FROM webhook_deliveries WHERE status = 'pending' AND next_attempt_at <= now()`,
  /** Events that people don't reflect yet. */
  people: 'SELECT copied_at AS since FROM inbox WHERE NOT is_merged',
  /** Changes of people that aren't in their figures yet. */
  figures_of_people: 'SELECT created_at AS since FROM people_work',
  /** Payments whose credit is computed, or computed again. */
  payments: 'SELECT credit_due_at AS since FROM revenue_payments WHERE credit_due_at <= now()',
  erasures: 'SELECT requested_at AS since FROM erasures WHERE done_at IS NULL',
}

export type QueueName = keyof typeof queues

export async function readQueues(q: Queryable): Promise<Record<QueueName, QueueState>> {
  const parts = Object.entries(queues).map(
    ([queue, due]) => `SELECT '${queue}' AS queue, count(*)::int AS depth,
       greatest(0, coalesce(extract(epoch FROM now() - min(since)), 0))::float8 AS "ageSeconds" FROM (${due}) AS due`,
  )
  const rows = await q.query<QueueState & { queue: QueueName }>(parts.join(' UNION ALL '))
  return Object.fromEntries(rows.map(({ queue, ...state }) => [queue, state])) as Record<QueueName, QueueState>
}
