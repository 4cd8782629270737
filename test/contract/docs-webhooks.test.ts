import { expect, test } from 'vitest'
import { operations } from '../../api/operations/registry.ts'
import { mergeEvents } from '../../pipeline/people/publish-changes.ts'
import {
  webhookDescriptionLengthMax,
  webhookEndpointsMax,
  webhookEventsMax,
  webhookUrlLengthMax,
} from '../../schemas/limits/api-limits.ts'
import { WebhookCreate, WebhookDeliveryResource } from '../../schemas/resources/webhook.ts'
import { webhookEventTypes } from '../../schemas/webhook-events.ts'
import { readDoc, tableOf } from '../support/docs.ts'

const page = readDoc('docs/webhooks.md')

const byPipeline = [
  'post.published',
  'post.failed',
  'social_account.health_changed',
  'conversion.recorded',
  'contact.merged',
  ...mergeEvents,
]
const byProviders = ['revenue.recorded', 'revenue.refunded']

test('docs/webhooks.md has every event with the operations that write it down', () => {
  const byOf = (event: string) => {
    if (byPipeline.includes(event)) return 'the pipeline'
    if (byProviders.includes(event)) return '[payment providers and imports](revenue.md)'
    const emitting = operations.filter(({ emits }) => emits === event)
    return emitting.map(({ http }) => `\`${http.method} ${http.path}\``).join(', ')
  }
  expect(tableOf(page, '## Events')).toEqual(webhookEventTypes.map((event) => [`\`${event}\``, byOf(event)]))
})

test('docs/webhooks.md has the fields of a registration with their bounds', () => {
  const fields = tableOf(page, '## Registering')
  expect(fields.map(([field]) => field)).toEqual(Object.keys(WebhookCreate.shape).map((field) => `\`${field}\``))
  expect(fields.map(([, bounds]) => bounds)).toEqual([
    `1–${webhookUrlLengthMax} characters`,
    `1–${webhookEventsMax}`,
    `at most ${webhookDescriptionLengthMax} characters`,
  ])
  expect(page).toContain(`at most ${webhookEndpointsMax} endpoints`)
})

test('docs/webhooks.md names every member of a delivery record', () => {
  for (const member of Object.keys(WebhookDeliveryResource.shape)) expect(page).toContain(`\`${member}\``)
})
