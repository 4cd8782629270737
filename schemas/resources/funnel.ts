/** How many visitors went through some steps in order. docs/metrics.md says what the figures mean. */
import { z } from 'zod'
import { funnelStepKinds } from '../funnel-steps.ts'
import { Range } from './range.ts'

const FunnelStepRow = z
  .object({
    kind: z.enum(funnelStepKinds),
    value: z.string(),
    visitors: z.int(),
    share_of_first: z.number().describe('In per cent.'),
    share_of_previous: z.number(),
    dropped: z.int().describe('Since the step before.'),
    median_seconds_from_previous: z.number().nullable(),
  })
  .meta({ id: 'FunnelStepRow' })

export const Funnel = z
  .object({ range: Range, within: z.string(), steps: z.array(FunnelStepRow) })
  .meta({ id: 'Funnel' })
export type Funnel = z.output<typeof Funnel>
