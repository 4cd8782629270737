/** Webhook endpoints, and the deliveries to them. */
import { z } from 'zod'
import { webhookDescriptionLengthMax, webhookEventsMax, webhookUrlLengthMax } from '../limits/api-limits.ts'
import { isWebUrl } from '../web-url.ts'
import { webhookEventTypes } from '../webhook-events.ts'
import { dateTime } from './date-time.ts'
import { objectId } from './object-id.ts'
import { plainLine } from './plain-line.ts'

const eventType = z.enum(webhookEventTypes)

export const WebhookCreate = z
  .object({
    url: z
      .string()
      .min(1)
      .max(webhookUrlLengthMax)
      .refine(isWebUrl, 'The URL must begin with https://, and have a host, no credentials and no blanks')
      .meta({ description: 'https, a public host, no credentials, no blanks.' }),
    events: z
      .array(eventType)
      .min(1)
      .max(webhookEventsMax)
      .optional()
      .meta({ description: 'All events when left out.' }),
    description: plainLine(webhookDescriptionLengthMax).default(''),
  })
  .meta({ id: 'WebhookCreate' })

const endpoint = {
  id: z.int(),
  object_id: objectId('webhook_endpoint'),
  url: z.string(),
  events: z.array(eventType),
  description: z.string(),
  status: z.enum(['enabled', 'disabled']),
  created_at: dateTime,
  updated_at: dateTime,
}

export const WebhookEndpointResource = z.object(endpoint).meta({ id: 'WebhookEndpoint' })

export const CreatedWebhookEndpoint = z
  .object({
    ...endpoint,
    secret: z.string().meta({ description: 'Signs the deliveries (Standard Webhooks). Shown here and never again.' }),
  })
  .meta({ id: 'CreatedWebhookEndpoint' })

export const WebhookDeliveryResource = z
  .object({
    id: z.int(),
    object_id: objectId('webhook_delivery'),
    webhook_endpoint_id: z.int(),
    event_id: z.string(),
    event_type: z.string(),
    status: z.enum(['pending', 'delivered', 'failed']),
    attempt_count: z.int(),
    response_status: z.int().nullable(),
    response_body: z.string().nullable().meta({ description: 'The first kilobyte.' }),
    error: z.string().nullable(),
    duration_ms: z.int().nullable(),
    next_attempt_at: dateTime.nullable(),
    delivered_at: dateTime.nullable(),
    created_at: dateTime,
  })
  .meta({ id: 'WebhookDelivery' })
