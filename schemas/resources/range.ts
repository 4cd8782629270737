/** The range that figures are of, as answers show it. */
import { z } from 'zod'
import { dateTime } from './date-time.ts'

export const Range = z
  .object({
    start: dateTime,
    end: dateTime,
    timezone: z.string(),
    bucket: z.string().describe('hour, day, week or month.'),
  })
  .meta({ id: 'Range' })

/** The description of `previous`, beside the figures of a range. */
export const previousMeaning = 'The same of the period before; null where not all of it is kept.'
