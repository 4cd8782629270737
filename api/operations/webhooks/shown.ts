/** Webhook endpoints as the API shows them. */
import type { WebhookEndpoint } from '../../../postgres/tables/webhooks.ts'
import { type WebhookEventType, webhookEventTypes } from '../../../schemas/webhook-events.ts'

export function shownEndpoint({ id, url, events, description, status, created_at, updated_at }: WebhookEndpoint) {
  return {
    ...{ id, object_id: `webhook_endpoint_${id}`, url, description, status },
    events: events.length === 0 ? [...webhookEventTypes] : (events as WebhookEventType[]),
    created_at: created_at.toISOString(),
    updated_at: updated_at.toISOString(),
  }
}
