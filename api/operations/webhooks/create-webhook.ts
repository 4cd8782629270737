import { randomBytes } from 'node:crypto'
import { countWebhookEndpoints, insertWebhookEndpoint } from '../../../postgres/tables/webhooks.ts'
import { holdWorkspace } from '../../../postgres/tables/workspaces.ts'
import { webhookEndpointsMax } from '../../../schemas/api-limits.ts'
import { problem } from '../../../schemas/problems.ts'
import { CreatedWebhookEndpoint, WebhookCreate } from '../../../schemas/resources/webhook.ts'
import { defineOperation } from '../define.ts'
import { shownEndpoint } from './shown.ts'

export const createWebhook = defineOperation({
  name: 'webhook_endpoint.create',
  http: { method: 'POST', path: '/v1/webhooks' },
  summary: 'Register an HTTPS endpoint that is told of changes.',
  description: 'The answer holds the secret that signs deliveries, once.',
  tag: 'Webhooks',
  effect: 'create',
  scope: 'webhooks:write',
  input: { body: WebhookCreate },
  output: CreatedWebhookEndpoint,
  problems: ['webhooks_full'],
  async handle({ body: { url, events = [], description }, workspace, stores: { pg, box } }) {
    await holdWorkspace(pg, workspace.id)
    if ((await countWebhookEndpoints(pg, workspace.id)) >= webhookEndpointsMax) throw problem('webhooks_full')
    const secret = `whsec_${randomBytes(32).toString('base64')}`
    const endpoint = await insertWebhookEndpoint(pg, {
      workspaceId: workspace.id,
      ...{ url, events: [...new Set(events)], description, secret: box.seal(secret) },
    })
    return { ...shownEndpoint(endpoint), secret }
  },
})
