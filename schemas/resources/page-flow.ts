/** The pages that visitors viewed right before and after a page. docs/metrics.md says what the figures mean. */
import { z } from 'zod'
import { dateTime } from './date-time.ts'
import { Range } from './range.ts'

const PageFlowRow = z
  .object({
    path: z.string().nullable().describe('Null: the session began or ended there.'),
    views: z.int(),
    share: z.number().describe('Of the page’s views, in per cent.'),
  })
  .meta({ id: 'PageFlowRow' })

const PageFlowSide = z
  .object({ rows: z.array(PageFlowRow), other: z.int().describe('Views whose page is in no row.') })
  .meta({ id: 'PageFlowSide' })

export const PageFlow = z
  .object({
    range: Range,
    as_of: dateTime.describe('Every event answered 202 before it is in all figures.'),
    readable_from: dateTime.describe('Nothing before it is looked at.'),
    path: z.string().describe('As it was asked for.'),
    pageviews: z.int().describe('All of the page, repeats too.'),
    views: z.int().describe('The same with repeats in a row as one: what both sides add up to.'),
    visitors: z.int(),
    sessions: z.int(),
    before: PageFlowSide,
    after: PageFlowSide,
  })
  .meta({ id: 'PageFlow' })
export type PageFlow = z.output<typeof PageFlow>
