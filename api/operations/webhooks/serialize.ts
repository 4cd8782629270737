/** Webhook endpoints and deliveries as the API shows them. */
import type { WebhookDelivery } from '../../../postgres/tables/webhooks/webhook-deliveries.ts'
import type { WebhookEndpoint } from '../../../postgres/tables/webhooks/webhooks.ts'
import { type WebhookEventType, webhookEventTypes } from '../../../schemas/webhook-events.ts'

export function serializeEndpoint({ id, url, events, description, status, created_at, updated_at }: WebhookEndpoint) {
  return {
    id,
    object_id: `webhook_endpoint_${id}`,
    url,
    description,
    status,
    events: events.length === 0 ? [...webhookEventTypes] : (events as WebhookEventType[]),
    created_at: created_at.toISOString(),
    updated_at: updated_at.toISOString(),
  }
}

export function serializeDelivery(delivery: WebhookDelivery) {
  return {
    ...delivery,
    object_id: `webhook_delivery_${delivery.id}`,
    next_attempt_at: delivery.next_attempt_at?.toISOString() ?? null,
    delivered_at: delivery.delivered_at?.toISOString() ?? null,
    created_at: delivery.created_at.toISOString(),
  }
}
