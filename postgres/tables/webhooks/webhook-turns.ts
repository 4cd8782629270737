/**
 * The queue of webhooks: turns outbox events into deliveries, leases an endpoint's turn to one process at a time, and
 * records the results of attempts. Times are those of Postgres, so that all processes agree on what is due.
 */
import { webhookLeaseMs, webhookRetryAfterMaxMs, webhookWaitMaxMs } from '../../../schemas/limits/webhook-limits.ts'
import type { Postgres, Queryable } from '../../client.ts'
import { intervalOf } from '../../clock.ts'
import { isPast, isTooFarAhead } from '../../leasing.ts'
import { appendSystemChange } from '../workspaces/audit.ts'
import { isSubscribedTo } from './outbox.ts'

/**
 * Writes the deliveries of the oldest events in the outbox that have none yet. Endpoints that were made after an event don't
 * get it. Several processes may run it at once; each takes other events.
 * @returns how many events it took
 */
export async function fanOut(q: Queryable, eventsMax: number): Promise<number> {
  const [row] = await q.query<{ events: number }>(
    `WITH taken AS (
       SELECT id, workspace_id, event_id, type, created_at FROM outbox WHERE fanned_out_at IS NULL
       ORDER BY id LIMIT $1 FOR UPDATE SKIP LOCKED
     ), made AS (
       INSERT INTO webhook_deliveries (workspace_id, webhook_endpoint_id, event_id, event_type, next_attempt_at)
       SELECT taken.workspace_id, endpoint.id, taken.event_id, taken.type, now()
       FROM taken JOIN webhook_endpoints AS endpoint USING (workspace_id)
       WHERE endpoint.created_at <= taken.created_at AND ${isSubscribedTo('taken.type')}
       ON CONFLICT DO NOTHING
     ), done AS (
       UPDATE outbox SET fanned_out_at = now() FROM taken WHERE outbox.id = taken.id RETURNING 1
     )
     SELECT count(*) AS events FROM done`,
    [eventsMax],
  )
  return row!.events
}

/** An endpoint whose turn a process has. */
export interface Turn {
  readonly endpointId: number
  readonly url: string
  /** Encrypted. */
  readonly secret: Buffer
  /** A disabled endpoint gets only deliveries that were redelivered by hand, a deleted one none. */
  readonly state: 'enabled' | 'disabled' | 'deleted'
  readonly isFailing: boolean
}

/** Takes the turns of endpoints with due deliveries. The endpoint that has waited longest comes first. */
export function takeTurns(q: Queryable, holder: string, leaseMs: number, max: number): Promise<Turn[]> {
  // Index look-ups alone, a few for each endpoint that has anything pending, due or not. EXISTS in a choice would be
  // answered by reading every pending delivery.
  return q.query<Turn>(
    `WITH RECURSIVE waiting AS (
       (SELECT webhook_endpoint_id AS id FROM webhook_deliveries WHERE status = 'pending' ORDER BY 1 LIMIT 1)
       UNION ALL
       SELECT (SELECT webhook_endpoint_id FROM webhook_deliveries
               WHERE status = 'pending' AND webhook_endpoint_id > waiting.id ORDER BY 1 LIMIT 1)
       FROM waiting WHERE waiting.id IS NOT NULL
     ), due AS (
       SELECT endpoint.id FROM waiting JOIN webhook_endpoints AS endpoint USING (id)
       WHERE coalesce(${isPast('endpoint.leased_until', 'now()', webhookLeaseMs)}, true)
         AND (coalesce(${isPast('endpoint.held_until', 'now()', webhookRetryAfterMaxMs)}, true) OR endpoint.status = 'disabled')
         AND (endpoint.deleted_at IS NOT NULL
           OR (SELECT min(next_attempt_at) FROM webhook_deliveries
               WHERE webhook_endpoint_id = endpoint.id AND status = 'pending') <= now()
           OR ${isTooFarAhead(
             `(SELECT max(next_attempt_at) FROM webhook_deliveries
               WHERE webhook_endpoint_id = endpoint.id AND status = 'pending')`,
             'now()',
             webhookWaitMaxMs,
           )}
           OR (endpoint.status = 'disabled' AND (
             SELECT true FROM webhook_deliveries
             WHERE webhook_endpoint_id = endpoint.id AND status = 'pending' AND NOT by_hand ORDER BY next_attempt_at LIMIT 1)))
       ORDER BY endpoint.leased_until NULLS FIRST LIMIT $3 FOR UPDATE OF endpoint SKIP LOCKED
     )
     UPDATE webhook_endpoints AS endpoint SET leased_by = $1, leased_until = now() + ${intervalOf('$2')}
     FROM due WHERE endpoint.id = due.id
     RETURNING endpoint.id AS "endpointId", url, secret, failing_since IS NOT NULL AS "isFailing",
       CASE WHEN deleted_at IS NULL THEN status ELSE 'deleted' END AS state`,
    [holder, leaseMs, max],
  )
}

/** Ends a turn. Does nothing if another process has it by now. */
export async function endTurn(q: Queryable, endpointId: number, holder: string): Promise<void> {
  await q.query(
    `UPDATE webhook_endpoints SET leased_by = NULL, leased_until = now() WHERE id = $1 AND leased_by = $2`,
    [endpointId, holder],
  )
}

export type EndpointHealth = Pick<Turn, 'state' | 'isFailing'>

export interface DueDelivery {
  readonly id: number
  readonly eventId: string
  readonly eventType: string
  readonly workspaceId: number
  readonly retryStep: number
  readonly attemptCount: number
  readonly isByHand: boolean
  /** When the event was; null where the event itself is gone. */
  readonly createdAt: Date | null
  /** JSON of the resource as the API showed it; null where the event is gone. */
  readonly object: string | null
}

/** The longest due first. @param except deliveries that are under way, or not yet written down */
export function listDue(q: Queryable, { endpointId, state }: Turn, except: readonly number[], max: number) {
  // Two selects: with OR, the scan of the index would pass all deliveries that aren't due.
  const dueBy = (isDue: string) =>
    `(SELECT id FROM webhook_deliveries WHERE webhook_endpoint_id = $1 AND status = 'pending' AND ${isDue}
      AND id <> ALL ($2::bigint[]) AND (by_hand OR $4) ORDER BY next_attempt_at, id LIMIT $3)`
  return q.query<DueDelivery>(
    `SELECT delivery.id, delivery.event_id AS "eventId", delivery.event_type AS "eventType",
       delivery.workspace_id AS "workspaceId", retry_step AS "retryStep", attempt_count AS "attemptCount", by_hand AS "isByHand",
       outbox.created_at AS "createdAt", outbox.object::text AS object
     FROM (${dueBy('next_attempt_at <= now()')} UNION ALL ${dueBy(isTooFarAhead('next_attempt_at', 'now()', webhookWaitMaxMs))}) AS due
     JOIN webhook_deliveries AS delivery USING (id) LEFT JOIN outbox USING (event_id)
     ORDER BY next_attempt_at, delivery.id LIMIT $3`,
    [endpointId, except, max, state === 'enabled'],
  )
}

/** Fails pending deliveries of an endpoint that isn't sent to any more. @returns how many it ended */
export async function failPending(q: Queryable, { endpointId, state }: Turn, max: number): Promise<number> {
  const isEnded = `status = 'pending' AND (NOT by_hand OR $4)`
  // Asked twice: a row that was waited for may have been delivered or redelivered meanwhile.
  const ended = await q.query(
    `UPDATE webhook_deliveries SET status = 'failed', next_attempt_at = NULL, error = $3
     WHERE id IN (SELECT id FROM webhook_deliveries WHERE webhook_endpoint_id = $1 AND ${isEnded} LIMIT $2) AND ${isEnded}
     RETURNING 1`,
    [endpointId, max, `The endpoint is ${state}`, state === 'deleted'],
  )
  return ended.length
}

export interface AttemptResult {
  readonly deliveryId: number
  /** Attempts before this one: by them it is known whether it is recorded already. */
  readonly attemptsBefore: number
  /** As they were before this attempt: by them it is known whether the delivery was redelivered meanwhile. */
  readonly retryStep: number
  readonly isByHand: boolean
  readonly status: 'delivered' | 'pending' | 'failed'
  readonly responseStatus: number | null
  readonly responseBody: string | null
  readonly error: string | null
  readonly durationMs: number
  /** Wait until the next attempt of a pending delivery. */
  readonly waitMs: number | null
  /** How long the receiver asked not to be called at all (`Retry-After`). */
  readonly holdMs: number | null
}

/**
 * Records attempts on one endpoint and updates its state. It is disabled after a 410, or after `failingMaxMs` of nothing
 * but failures. A successful delivery that was sent by hand enables it again.
 * @returns the endpoint's state from now on
 */
export async function recordAttempts(
  pg: Postgres,
  { endpointId, state, isFailing }: Turn,
  results: readonly AttemptResult[],
  failingMaxMs: number,
): Promise<EndpointHealth> {
  const isWellAsBefore = state === 'enabled' && !isFailing && results.every(({ status }) => status === 'delivered')
  if (isWellAsBefore) {
    await recordResults(pg, results)
    return { state, isFailing }
  }
  return pg.transaction(async (tx) => {
    await recordResults(tx, results)
    return recordHealth(tx, endpointId, results, failingMaxMs)
  })
}

/**
 * Skips deliveries that are no longer pending, because another process had the turn and settled them. It also skips
 * attempts that are recorded already, because the answer to the COMMIT was lost. A delivery that was redelivered meanwhile
 * stays due, unless it was delivered. An answer to an event that was erased meanwhile isn't kept; the lock holds off an
 * erasure that begins just now.
 */
async function recordResults(tx: Queryable, results: readonly AttemptResult[]): Promise<void> {
  const of = (read: (result: AttemptResult) => unknown) => results.map(read)
  const isAsRead = '(delivery.retry_step, delivery.by_hand) = (result.retry_step, result.by_hand)'
  const ends = `(result.status = 'delivered' OR ${isAsRead})`
  await tx.query(
    `WITH kept AS MATERIALIZED (
       SELECT event_id FROM outbox
       WHERE event_id IN (SELECT event_id FROM webhook_deliveries WHERE id = ANY ($8::bigint[]))
       ORDER BY outbox.id FOR KEY SHARE
     )
     UPDATE webhook_deliveries AS delivery SET attempt_count = attempt_count + 1,
       status = CASE WHEN ${ends} THEN result.status ELSE delivery.status END,
       retry_step = delivery.retry_step + ${ends}::int, response_status = result.response_status,
       response_body = CASE WHEN result.response_body = '' OR delivery.event_id IN (SELECT event_id FROM kept) THEN result.response_body END,
       error = result.error, duration_ms = result.duration_ms,
       next_attempt_at = CASE WHEN ${ends} THEN now() + ${intervalOf('result.wait_ms')} ELSE next_attempt_at END,
       delivered_at = CASE WHEN result.status = 'delivered' THEN now() END
     FROM unnest($1::bigint[], $2::text[], $3::int[], $4::text[], $5::text[], $6::int[], $7::float8[], $9::int[], $10::int[],
         $11::boolean[]) AS result (id, status, response_status, response_body, error, duration_ms, wait_ms, attempts_before,
         retry_step, by_hand)
     WHERE delivery.id = result.id AND delivery.status = 'pending' AND delivery.attempt_count = result.attempts_before`,
    [
      of(({ deliveryId }) => deliveryId),
      of(({ status }) => status),
      of(({ responseStatus }) => responseStatus),
      of(({ responseBody }) => responseBody),
      of(({ error }) => error),
      of(({ durationMs }) => Math.round(durationMs)),
      of(({ waitMs }) => waitMs),
      results.filter(({ responseBody }) => responseBody).map(({ deliveryId }) => deliveryId),
      of(({ attemptsBefore }) => attemptsBefore),
      of(({ retryStep }) => retryStep),
      of(({ isByHand }) => isByHand),
    ],
  )
}

async function recordHealth(
  tx: Queryable,
  endpointId: number,
  results: readonly AttemptResult[],
  failingMaxMs: number,
): Promise<EndpointHealth> {
  const delivered = results.filter(({ status }) => status === 'delivered')
  const hold = Math.max(0, ...results.map(({ holdMs }) => holdMs ?? 0))
  // Before the update `failed_at` is that of the failure before: after a long silence the count begins anew.
  const [endpoint] = await tx.query<EndpointHealth & { workspaceId: number; stateBefore: EndpointHealth['state'] }>(
    `WITH before AS (
       SELECT id, status, CASE WHEN failed_at > now() - ${intervalOf('$6')} THEN failing_since END AS failing_since
       FROM webhook_endpoints WHERE id = $1 FOR UPDATE
     ), after AS (
       SELECT id, status AS status_before, coalesce(failing_since, now()) AS failing_since,
         CASE WHEN $4 THEN 'disabled' WHEN $3 THEN 'enabled' WHEN $2 THEN status
              WHEN failing_since <= now() - ${intervalOf('$6')} THEN 'disabled' ELSE status END AS status
       FROM before
     )
     UPDATE webhook_endpoints AS endpoint SET
       failing_since = CASE WHEN $2 THEN NULL ELSE after.failing_since END,
       failed_at = CASE WHEN $2 THEN NULL ELSE now() END,
       held_until = greatest(CASE WHEN NOT ${isTooFarAhead('held_until', 'now()', webhookRetryAfterMaxMs)} THEN held_until END,
         CASE WHEN $5::float8 > 0 THEN now() + ${intervalOf('$5')} END),
       status = after.status,
       updated_at = CASE WHEN after.status = status_before THEN updated_at ELSE now() END
     FROM after WHERE endpoint.id = after.id
     RETURNING endpoint.failing_since IS NOT NULL AS "isFailing", workspace_id AS "workspaceId",
       CASE WHEN deleted_at IS NULL THEN endpoint.status ELSE 'deleted' END AS state,
       CASE WHEN deleted_at IS NULL THEN status_before ELSE 'deleted' END AS "stateBefore"`,
    [
      endpointId,
      delivered.length > 0,
      delivered.some(({ isByHand }) => isByHand),
      results.some(({ responseStatus }) => responseStatus === goneStatus),
      hold,
      failingMaxMs,
    ],
  )
  // It went with its workspace while the receiver was waited for.
  if (endpoint === undefined) return { state: 'deleted', isFailing: false }
  const { workspaceId, state, stateBefore, isFailing } = endpoint
  if (state !== stateBefore) {
    const action = state === 'enabled' ? 'webhook_endpoint.enable' : 'webhook_endpoint.disable'
    await appendSystemChange(tx, { workspaceId, actorName: 'pipeline', action, resourceId: endpointId, metadata: {} })
  }
  return { state, isFailing }
}

const goneStatus = 410
