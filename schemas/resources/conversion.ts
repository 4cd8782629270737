/** Conversions with their credit, and the rule that gave it. */
import { z } from 'zod'
import { dateTime } from './date-time.ts'
import { Event } from './overview.ts'
import { Range } from './range.ts'

const Credit = z
  .object({
    rule: z
      .enum(['touch', 'session', 'event'])
      .describe(
        'touch: the person’s last touch within 30 days; session: how the session began, for want of one; event: the source that a server event named, or `direct`.',
      ),
    source: z.string(),
    medium: z.string(),
    channel: z.string(),
    touched_at: dateTime.nullable().describe('Of the touch; null by the other rules.'),
  })
  .meta({ id: 'Credit' })

const CreditTouch = z
  .object({
    event_id: z.int(),
    occurred_at: dateTime,
    source: z.string(),
    medium: z.string(),
    campaign: z.string(),
    content: z.string(),
    is_credited: z.boolean(),
  })
  .meta({ id: 'CreditTouch' })

export const Conversion = z
  .object({
    event: Event,
    credit: Credit,
    touches: z.array(CreditTouch).describe('Newest first.'),
  })
  .meta({ id: 'Conversion' })

export const Conversions = z
  .object({ range: Range, conversions: z.array(Conversion).describe('Newest first.') })
  .meta({ id: 'Conversions' })

export type Conversion = z.output<typeof Conversion>
export type Conversions = z.output<typeof Conversions>
