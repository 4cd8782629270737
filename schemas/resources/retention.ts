/** How many of those who came first in a time came back later. docs/metrics.md says what the figures mean. */
import { z } from 'zod'
import { dateTime } from './date-time.ts'
import { Range } from './range.ts'

const Cohort = z
  .object({
    label: z.string(),
    start: dateTime,
    end: dateTime,
    visitors: z.int().describe('Those whose first event lies in it.'),
    returned: z.array(z.int()).describe('How many of them have an event in the bucket after it, in the next one, …'),
  })
  .meta({ id: 'Cohort' })

export const Retention = z
  .object({
    range: Range,
    as_of: dateTime,
    readable_from: dateTime.describe('Earlier visits aren’t known: who came back after them counts as new.'),
    complete_through: dateTime.describe('Where the bucket begins that still runs: the last one of each list.'),
    cohorts: z.array(Cohort),
  })
  .meta({ id: 'Retention' })
export type Retention = z.output<typeof Retention>
