/** When a workspace publishes each week. docs/posts.md says how posts take these times. */
import { z } from 'zod'
import { laxIntRequired } from '../lax.ts'
import { postingTimesMax, queueDaysMax } from '../limits/publish-limits.ts'
import { dateTime } from './date-time.ts'

const weekday = { ge: 1, le: 7, description: '1 is Monday, 7 is Sunday.' }
export const timeOfDay = z
  .string()
  .regex(/^([01]\d|2[0-3]):[0-5]\d$/)
  .meta({ description: "Hour and minute, local to the workspace's timezone.", examples: ['09:00'] })

export const PostingTimesUpdate = z
  .object({ times: z.array(z.object({ weekday: laxIntRequired(weekday), time: timeOfDay })).max(postingTimesMax) })
  .meta({ id: 'PostingTimesUpdate' })

export const PostingTimes = z
  .object({
    times: z
      .array(z.object({ weekday: z.int(), time: z.string() }).meta({ id: 'PostingTime' }))
      .meta({ description: 'In the order of the week.' }),
    free: z
      .array(dateTime)
      .meta({ description: `When they are next, up to ${queueDaysMax} days ahead, where no post is scheduled yet.` }),
  })
  .meta({ id: 'PostingTimes' })
