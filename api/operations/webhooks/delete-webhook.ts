import { z } from 'zod'
import { deleteWebhookEndpoint } from '../../../postgres/tables/webhooks/webhooks.ts'
import { problem } from '../../../schemas/errors/problems.ts'
import { idInPath } from '../../../schemas/lax.ts'
import { WebhookEndpointResource } from '../../../schemas/resources/webhook.ts'
import { defineOperation } from '../define.ts'
import { serializeEndpoint } from './serialize.ts'

export const deleteWebhook = defineOperation({
  name: 'webhook_endpoint.delete',
  http: { method: 'DELETE', path: '/v1/webhooks/{webhook_id}' },
  tool: 'svc.delete_webhook_endpoint',
  summary: 'Delete a webhook endpoint. Its delivery records stay.',
  tag: 'Webhooks',
  effect: 'delete',
  scope: 'webhooks:write',
  input: { path: z.object({ webhook_id: idInPath('webhook_endpoint') }) },
  output: WebhookEndpointResource,
  problems: ['webhook_not_found'],
  async handle({ path: { webhook_id }, workspace, stores: { pg } }) {
    const endpoint = await deleteWebhookEndpoint(pg, workspace.id, webhook_id)
    if (endpoint === null) throw problem('webhook_not_found')
    return serializeEndpoint(endpoint)
  },
})
