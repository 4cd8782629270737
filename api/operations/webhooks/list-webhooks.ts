import { z } from 'zod'
import { listWebhookEndpoints } from '../../../postgres/tables/webhooks/webhooks.ts'
import { pageQuery } from '../../../schemas/resources/page.ts'
import { WebhookEndpointResource } from '../../../schemas/resources/webhook.ts'
import { defineOperation } from '../define.ts'
import { serializeEndpoint } from './serialize.ts'

export const listWebhooks = defineOperation({
  name: 'webhook_endpoint.list',
  http: { method: 'GET', path: '/v1/webhooks' },
  tool: 'svc.list_webhook_endpoints',
  summary: 'List the webhook endpoints, newest first.',
  tag: 'Webhooks',
  effect: 'read',
  scope: 'webhooks:read',
  input: { query: pageQuery('webhook_endpoint') },
  output: z.array(WebhookEndpointResource),
  async handle({ query: { limit, before_id }, workspace, stores: { pg } }) {
    return (await listWebhookEndpoints(pg, workspace.id, { limit, beforeId: before_id })).map(serializeEndpoint)
  },
})
