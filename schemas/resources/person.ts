/** People: contacts, who are known by an e-mail, and visitors who aren't. */
import { z } from 'zod'
import { dateTime } from './date-time.ts'
import { objectId } from './object-id.ts'
import { Event } from './overview.ts'

const count = z.int().min(0)
const counts = {
  session_count: count,
  event_count: count,
  conversion_count: count,
  total_revenue_cents: z.int(),
}

export const Person = z
  .object({
    id: z.int().nullable().meta({ description: 'Of a contact; null for an anonymous visitor.' }),
    object_id: objectId('contact').nullable(),
    kind: z.enum(['known', 'anonymous']),
    contact_id: z.int().nullable(),
    anonymous_id: z
      .string()
      .nullable()
      .meta({ description: 'Of an anonymous visitor; `visitor_…` without an id of its own.' }),
    email: z.string().nullable(),
    full_name: z.string(),
    company: z.string(),
    source: z.string().meta({ description: 'Of the last touch, as the three fields after it.' }),
    medium: z.string(),
    campaign: z.string(),
    content: z.string(),
    first_source: z.string(),
    first_medium: z.string(),
    first_campaign: z.string(),
    ...counts,
    first_seen_at: dateTime,
    last_seen_at: dateTime,
  })
  .meta({ id: 'Person' })

const Touch = z
  .object({
    source: z.string(),
    medium: z.string(),
    campaign: z.string(),
    content: z.string(),
    occurred_at: dateTime.nullable().meta({ description: 'Null: all that is known is that they came directly.' }),
  })
  .meta({ id: 'Touch' })

const Payment = z
  .object({
    id: z.int(),
    provider: z.string(),
    value_cents: z.int(),
    currency: z.string(),
    occurred_at: dateTime,
    source: z.string(),
    campaign: z.string(),
  })
  .meta({ id: 'PersonPayment' })

export const Journey = z
  .object({
    person: Person,
    anonymous_ids: z.array(z.string()).meta({ description: 'Of the browsers that are theirs.' }),
    ...counts,
    first_touch: Touch,
    last_touch: Touch,
    events: z.array(Event).meta({ description: 'Newest first.' }),
    revenue: z.array(Payment),
  })
  .meta({ id: 'Journey' })

export type Person = z.output<typeof Person>
export type Journey = z.output<typeof Journey>
