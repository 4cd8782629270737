/** The API and what sends to webhooks, in the test's own process, on real stores. */
import { afterAll, beforeAll, vi } from 'vitest'
import type { z } from 'zod'
import { makePipelineMetrics } from '../../pipeline/pipeline-metrics.ts'
import { type Sender, startSender } from '../../pipeline/webhooks/sender.ts'
import { systemClock } from '../../runtime/clock.ts'
import { makeLog } from '../../runtime/log.ts'
import { makeMetrics } from '../../runtime/metrics.ts'
import { makeGuardedAgent } from '../../runtime/outbound/guarded-agent.ts'
import type {
  CreatedWebhookEndpoint,
  WebhookDeliveryResource,
  WebhookEndpointResource,
} from '../../schemas/resources/webhook.ts'
import { setUpApi } from './api.ts'
import { asking } from './publishing.ts'
import type { TestStores } from './stores.ts'

export type ShownDelivery = z.output<typeof WebhookDeliveryResource>

export const patience = { timeout: 60_000, interval: 20 }

export interface TestSenderOptions {
  readonly allowPrivate?: boolean
  readonly dnsServers?: readonly string[]
}

export function startTestSender(stores: TestStores, options: TestSenderOptions = {}): Sender {
  const { allowPrivate = true, dnsServers } = options
  return startSender({
    pg: stores.pg,
    box: stores.box,
    clock: systemClock,
    log: makeLog('test', 'silent'),
    metrics: makePipelineMetrics(makeMetrics('test', false)),
    agent: makeGuardedAgent({ allowPrivate, connectMs: 5_000, ...(dnsServers && { dnsServers }) }),
  })
}

/** For the tests of a file; each has a workspace of its own. */
export function setUpWebhooks(options: () => TestSenderOptions | Promise<TestSenderOptions> = () => ({})) {
  const setUp = setUpApi({ allowPrivateTargets: true })
  const { stores, api, mine } = setUp
  let sender: Sender
  beforeAll(async () => {
    sender = startTestSender(stores, await options())
  })
  afterAll(() => sender?.close())
  const ask = asking(api, () => mine.apiKey)
  const deliveries = async () => (await ask<ShownDelivery[]>('GET', '/v1/webhooks/deliveries')).body
  return {
    ...setUp,
    ask,
    register: async (url: string, more: object = {}) =>
      (await ask<z.output<typeof CreatedWebhookEndpoint>>('POST', '/v1/webhooks', { url, ...more })).body,
    makeLink: async (label = 'A link') =>
      (await ask<{ id: number }>('POST', '/v1/links', { label, destination_url: 'https://example.com/' })).body,
    deliveries,
    /** The newest delivery, once it is as wanted. */
    untilDelivery: (isAsWanted: (delivery: ShownDelivery) => boolean) =>
      vi.waitUntil(async () => {
        const [newest] = await deliveries()
        return newest !== undefined && isAsWanted(newest) && newest
      }, patience),
    endpointStatus: async (id: number) => {
      const { body } = await ask<z.output<typeof WebhookEndpointResource>[]>('GET', '/v1/webhooks')
      return body.find((endpoint) => endpoint.id === id)?.status
    },
    /** Lets the next attempt be due at once: the schedule takes two days. */
    hurry: (id: number) =>
      stores.pg.query(`UPDATE webhook_deliveries SET next_attempt_at = now() WHERE id = $1 AND status = 'pending'`, [
        id,
      ]),
  }
}
