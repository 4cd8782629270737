import { z } from 'zod'
import { insertTestDelivery } from '../../../postgres/tables/webhooks/webhook-deliveries.ts'
import { findWebhookEndpoint } from '../../../postgres/tables/webhooks/webhooks.ts'
import { problem } from '../../../schemas/errors/problems.ts'
import { idInPath } from '../../../schemas/lax.ts'
import { WebhookDeliveryResource } from '../../../schemas/resources/webhook.ts'
import { defineOperation } from '../define.ts'
import { serializeDelivery, serializeEndpoint } from './serialize.ts'

export const testWebhook = defineOperation({
  name: 'webhook_endpoint.test',
  http: { method: 'POST', path: '/v1/webhooks/{webhook_id}/test' },
  tool: 'svc.test_webhook_endpoint',
  summary: 'Send a test event to a webhook endpoint, whatever events it takes.',
  description: 'A disabled endpoint that takes it is enabled again.',
  tag: 'Webhooks',
  effect: 'create',
  scope: 'webhooks:write',
  input: { path: z.object({ webhook_id: idInPath('webhook_endpoint') }) },
  output: WebhookDeliveryResource,
  emits: 'webhook.test',
  writesOutbox: true,
  problems: ['webhook_not_found'],
  async handle({ path: { webhook_id }, workspace, stores: { pg } }) {
    const endpoint = await findWebhookEndpoint(pg, workspace.id, webhook_id)
    if (endpoint === null) throw problem('webhook_not_found')
    return serializeDelivery(await insertTestDelivery(pg, workspace.id, endpoint.id, serializeEndpoint(endpoint)))
  },
})
