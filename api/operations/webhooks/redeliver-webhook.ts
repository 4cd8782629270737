import { z } from 'zod'
import { lockRedeliverable, redeliver } from '../../../postgres/tables/webhooks/webhook-deliveries.ts'
import { problem } from '../../../schemas/errors/problems.ts'
import { idInPath } from '../../../schemas/lax.ts'
import { WebhookDeliveryResource } from '../../../schemas/resources/webhook.ts'
import { defineOperation } from '../define.ts'
import { serializeDelivery } from './serialize.ts'

export const redeliverWebhook = defineOperation({
  name: 'webhook_delivery.redeliver',
  http: { method: 'POST', path: '/v1/webhooks/deliveries/{delivery_id}/redeliver' },
  tool: 'svc.redeliver_webhook_delivery',
  summary: 'Deliver an event to a webhook endpoint once more, now and with all retries.',
  description: 'A disabled endpoint that takes it is enabled again. `response_body` is null here: the list has it.',
  tag: 'Webhooks',
  effect: 'update',
  isIdempotent: false,
  scope: 'webhooks:write',
  input: { path: z.object({ delivery_id: idInPath('webhook_delivery') }) },
  output: WebhookDeliveryResource,
  problems: ['delivery_not_found', 'delivery_endpoint_deleted', 'delivery_event_gone'],
  async handle({ path: { delivery_id }, workspace, stores: { pg } }) {
    const found = await lockRedeliverable(pg, workspace.id, delivery_id)
    if (found === null) throw problem('delivery_not_found')
    if (found.isEndpointDeleted) throw problem('delivery_endpoint_deleted')
    if (!found.hasEvent) throw problem('delivery_event_gone')
    // The answer is kept for retries: an erasure couldn't remove from it what a receiver said of a person.
    return serializeDelivery({ ...(await redeliver(pg, found.endpointId, delivery_id)), response_body: null })
  },
})
