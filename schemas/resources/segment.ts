/** Segments: filters under a name, which the dashboard calls saved views. */
import { z } from 'zod'
import { lengthOf } from '../code-points.ts'
import { valueError } from '../errors/validation-errors.ts'
import type { Build } from '../errors/zod-errors.ts'
import { segmentFiltersLengthMax, segmentNameLengthMax } from '../limits/segment-limits.ts'
import { filterParameters } from '../session-filters.ts'
import { dateTime } from './date-time.ts'
import { objectId } from './object-id.ts'
import { nameOf } from './plain-line.ts'

/** By name, as in a query. A name that no filter has would leave visitors in whom somebody meant to leave out. */
const filters = z.strictObject(filterParameters)

const someFilters = filters
  .superRefine((given, context) => {
    const values = Object.values(given).flat()
    const refuse = (fault: string) => {
      const build: Build = (loc, input) => valueError(loc, input, fault)
      context.addIssue({ code: 'custom', params: { build } })
    }
    if (values.length === 0) refuse('there must be a filter')
    if (lengthOf(values.join('')) > segmentFiltersLengthMax) {
      refuse(`all values together have at most ${segmentFiltersLengthMax} characters`)
    }
  })
  .meta({
    description: 'Values by the name of the filter, as in the query of the overview.',
    examples: [{ channel: ['Email'] }],
  })

const name = nameOf(segmentNameLengthMax)

export const SegmentCreate = z.object({ name, filters: someFilters }).meta({ id: 'SegmentCreate' })
export const SegmentUpdate = z
  .object({ name: name.meta({ examples: ['Mail'] }), filters: someFilters })
  .partial()
  .meta({ id: 'SegmentUpdate' })

export const Segment = z
  .object({ id: z.int(), object_id: objectId('segment'), name: z.string(), filters, created_at: dateTime })
  .meta({ id: 'Segment' })
export type Segment = z.output<typeof Segment>
