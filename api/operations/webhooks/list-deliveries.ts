import { z } from 'zod'
import { listWebhookDeliveries } from '../../../postgres/tables/webhooks/webhook-deliveries.ts'
import { pageQuery } from '../../../schemas/resources/page.ts'
import { WebhookDeliveryResource } from '../../../schemas/resources/webhook.ts'
import { defineOperation } from '../define.ts'
import { serializeDelivery } from './serialize.ts'

export const listDeliveries = defineOperation({
  name: 'webhook_delivery.list',
  http: { method: 'GET', path: '/v1/webhooks/deliveries' },
  tool: 'svc.list_webhook_deliveries',
  summary: 'List what was delivered to webhook endpoints, newest first.',
  tag: 'Webhooks',
  effect: 'read',
  scope: 'webhooks:read',
  input: { query: pageQuery('webhook_delivery') },
  output: z.array(WebhookDeliveryResource),
  async handle({ query: { limit, before_id }, workspace, stores: { pg } }) {
    const deliveries = await listWebhookDeliveries(pg, workspace.id, { limit, beforeId: before_id })
    return deliveries.map(serializeDelivery)
  },
})
