/** Saved funnels: steps, and the time for them, under a name. Range and filters are those of whoever looks. */
import { z } from 'zod'
import { funnelSteps, funnelWithin } from '../funnel-steps.ts'
import { funnelDaysDefault } from '../limits/overview-limits.ts'
import { savedFunnelNameLengthMax } from '../limits/saved-funnel-limits.ts'
import { dateTime } from './date-time.ts'
import { objectId } from './object-id.ts'
import { nameOf } from './plain-line.ts'

const name = nameOf(savedFunnelNameLengthMax)
const steps = funnelSteps.meta({ examples: [['path:/pricing', 'event:signup']] })

export const SavedFunnelCreate = z
  .object({ name, steps, within: funnelWithin(String(funnelDaysDefault)) })
  .meta({ id: 'SavedFunnelCreate' })
export const SavedFunnelUpdate = z
  .object({
    name: name.meta({ examples: ['Sign-ups'] }),
    steps,
    within: funnelWithin(),
  })
  .partial()
  .meta({ id: 'SavedFunnelUpdate' })

export const SavedFunnel = z
  .object({
    id: z.int(),
    object_id: objectId('funnel'),
    name: z.string(),
    steps: z.array(z.string()),
    within: z.string().meta({ description: 'Days, or `session`.' }),
    created_at: dateTime,
  })
  .meta({ id: 'SavedFunnel' })
export type SavedFunnel = z.output<typeof SavedFunnel>
