/** The outbox: events for webhooks, written in the transaction of the change. */
import { randomBytes } from 'node:crypto'
import type { WebhookEventType } from '../../schemas/webhook-events.ts'
import type { Queryable } from '../client.ts'

/** @param object the resource as the API shows it @returns the event's id */
export async function insertOutbox(
  tx: Queryable,
  workspaceId: number,
  type: WebhookEventType,
  object: unknown,
): Promise<string> {
  const eventId = `evt_${randomBytes(16).toString('hex')}`
  await tx.query('INSERT INTO outbox (workspace_id, event_id, type, object) VALUES ($1, $2, $3, $4)', [
    workspaceId,
    eventId,
    type,
    JSON.stringify(object),
  ])
  return eventId
}
