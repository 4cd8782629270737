/** Events of a range by name, or by a value of one property. docs/metrics.md says what the figures mean. */
import { z } from 'zod'
import { eventSeriesRowsMax } from '../limits/series-limits.ts'
import { dateTime } from './date-time.ts'
import { Range } from './range.ts'

const EventNameRow = z
  .object({
    event: z.string(),
    value: z.string().nullable().describe('The property’s.'),
    kind: z.string().describe('Its newest event’s.'),
    events: z.int(),
    visitors: z.int(),
    sessions: z.int(),
    conversions: z.int(),
    visitor_share: z.number().describe('In per cent of all visitors.'),
    last_seen_at: dateTime,
    previous: z.object({ events: z.int(), visitors: z.int() }).nullable().optional().describe('With `compare` alone.'),
  })
  .meta({ id: 'EventNameRow' })

const EventNamesPoint = z
  .object({
    label: z.string(),
    start: dateTime,
    end: dateTime,
    rows: z
      .array(z.object({ events: z.int(), visitors: z.int() }))
      .describe(`The first ${eventSeriesRowsMax} rows of the answer, in their order.`),
  })
  .meta({ id: 'EventNamesPoint' })

export const EventNames = z
  .object({
    range: Range,
    visitors: z.int(),
    properties: z.array(z.string()),
    rows: z.array(EventNameRow),
    series: z.array(EventNamesPoint).optional().describe('With `interval` alone.'),
  })
  .meta({ id: 'EventNames' })
export type EventNames = z.output<typeof EventNames>
