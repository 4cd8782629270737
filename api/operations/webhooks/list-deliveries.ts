import { z } from 'zod'
import { listWebhookDeliveries } from '../../../postgres/tables/webhooks.ts'
import { PageQuery } from '../../../schemas/resources/page.ts'
import { WebhookDeliveryResource } from '../../../schemas/resources/webhook.ts'
import { defineOperation } from '../define.ts'

export const listDeliveries = defineOperation({
  name: 'webhook_delivery.list',
  http: { method: 'GET', path: '/v1/webhooks/deliveries' },
  summary: 'List what was delivered to webhook endpoints, newest first.',
  tag: 'Webhooks',
  effect: 'read',
  scope: 'webhooks:read',
  input: { query: PageQuery },
  output: z.array(WebhookDeliveryResource),
  async handle({ query: { limit, before_id }, workspace, stores: { pg } }) {
    const deliveries = await listWebhookDeliveries(pg, workspace.id, { limit, beforeId: before_id })
    return deliveries.map((delivery) => ({
      ...delivery,
      object_id: `webhook_delivery_${delivery.id}`,
      next_attempt_at: delivery.next_attempt_at?.toISOString() ?? null,
      delivered_at: delivery.delivered_at?.toISOString() ?? null,
      created_at: delivery.created_at.toISOString(),
    }))
  },
})
