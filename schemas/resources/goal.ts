/** Goals: what a workspace wants visitors to do, and how many did. docs/metrics.md says what the figures mean. */
import { z } from 'zod'
import { valueError } from '../errors/validation-errors.ts'
import { funnelStepKinds, patternFault } from '../funnel-steps.ts'
import { goalNameLengthMax, goalValueLengthMax } from '../limits/goal-limits.ts'
import { propertyNameLengthMax } from '../limits/overview-limits.ts'
import { readPattern } from '../session-filters.ts'
import { dateTime } from './date-time.ts'
import { objectId } from './object-id.ts'
import { nameOf } from './plain-line.ts'
import { previousMeaning, Range } from './range.ts'

const kind = z.enum(funnelStepKinds).describe('A page that is viewed, or an event by its name.')

/** As filters take it. */
const pattern = z
  .string()
  .min(1)
  .max(goalValueLengthMax)
  .superRefine((text, context) => {
    const fault = patternFault('a goal', readPattern(text))
    if (fault === undefined) return
    context.addIssue({ code: 'custom', params: { build: (loc: never) => valueError(loc, text, fault) } })
  })
const own = {
  name: nameOf(goalNameLengthMax),
  kind,
  value: pattern.meta({ description: 'The path or the name; `*` is any text.', examples: ['/thanks*'] }),
}
const property = z
  .object({
    name: z.string().min(1).max(propertyNameLengthMax),
    value: pattern.meta({ description: '`*` is any text. Anything but a text is compared as JSON.' }),
  })
  .nullable()
const propertyMeaning = 'Only events whose property of this name has the value count. Null: all.'

export const GoalCreate = z
  .object({ ...own, property: property.default(null).describe(propertyMeaning) })
  .meta({ id: 'GoalCreate' })
export const GoalUpdate = z
  .object({
    ...own,
    name: own.name.meta({ examples: ['Order'] }),
    value: own.value.meta({ examples: ['/order/thanks'] }),
    property: property.describe(propertyMeaning),
  })
  .partial()
  .meta({ id: 'GoalUpdate' })

const goal = {
  id: z.int(),
  object_id: objectId('goal'),
  name: z.string(),
  kind,
  value: z.string(),
  property: z.object({ name: z.string(), value: z.string() }).nullable(),
}

export const Goal = z.object({ ...goal, created_at: dateTime }).meta({ id: 'Goal' })

const counts = {
  visitors: z.int().describe('Distinct ones who did it.'),
  completions: z.int().describe('How often it was done.'),
  conversion_rate: z.number().describe('`visitors` in per cent of the visitors of the range.'),
}

const GoalRow = z
  .object({ ...goal, ...counts, previous: z.object(counts).nullable().describe(previousMeaning) })
  .meta({ id: 'GoalRow' })

export const GoalFigures = z
  .object({ range: Range, visitors: z.int(), rows: z.array(GoalRow).describe('Most visitors first.') })
  .meta({ id: 'GoalFigures' })
export type GoalFigures = z.output<typeof GoalFigures>
