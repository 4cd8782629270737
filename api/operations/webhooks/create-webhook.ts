import { randomBytes } from 'node:crypto'
import { countWebhookEndpoints, insertWebhookEndpoint } from '../../../postgres/tables/webhooks/webhooks.ts'
import { lockWorkspace } from '../../../postgres/tables/workspaces/workspaces.ts'
import { invalid, problem } from '../../../schemas/errors/problems.ts'
import { valueError } from '../../../schemas/errors/validation-errors.ts'
import { webhookEndpointsMax } from '../../../schemas/limits/api-limits.ts'
import { CreatedWebhookEndpoint, WebhookCreate } from '../../../schemas/resources/webhook.ts'
import { defineOperation } from '../define.ts'
import { faultOfTarget } from '../public-target.ts'
import { serializeEndpoint } from './serialize.ts'

export const createWebhook = defineOperation({
  name: 'webhook_endpoint.create',
  http: { method: 'POST', path: '/v1/webhooks' },
  tool: 'svc.create_webhook_endpoint',
  summary: 'Register an HTTPS endpoint that gets changes.',
  description: 'The answer has the signing secret, once.',
  tag: 'Webhooks',
  effect: 'create',
  scope: 'webhooks:write',
  input: { body: WebhookCreate },
  output: CreatedWebhookEndpoint,
  answersWithSecret: true,
  problems: ['webhooks_full'],
  async handle({ body: { url, events = [], description }, workspace, stores: { pg, box }, config }) {
    if (!config.allowPrivateTargets) requirePublicTarget(url)
    await lockWorkspace(pg, workspace.id)
    if ((await countWebhookEndpoints(pg, workspace.id)) >= webhookEndpointsMax) throw problem('webhooks_full')
    const secret = `whsec_${randomBytes(32).toString('base64')}`
    const endpoint = await insertWebhookEndpoint(pg, {
      workspaceId: workspace.id,
      url,
      events: [...new Set(events)],
      description,
      secret: box.seal(secret),
    })
    return { ...serializeEndpoint(endpoint), secret }
  },
})

/** @throws Problem 422 */
function requirePublicTarget(url: string): void {
  const fault = faultOfTarget(new URL(url))
  if (fault !== undefined) throw invalid([valueError(['body', 'url'], url, fault)])
}
