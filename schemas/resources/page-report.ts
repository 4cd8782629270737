/** The pages of a range. docs/metrics.md says what the figures mean. */
import { z } from 'zod'
import { Range } from './range.ts'

export const pageSorts = [
  'pageviews',
  'visitors',
  'sessions',
  'entries',
  'exits',
  'exit_rate',
  'bounce_rate',
  'time_on_page_seconds',
  'scroll_depth',
  'conversions',
  'revenue_cents',
] as const
export type PageSort = (typeof pageSorts)[number]

export const sortOrders = ['desc', 'asc'] as const
export type SortOrder = (typeof sortOrders)[number]

const PageReportRow = z
  .object({
    path: z.string(),
    title: z.string().describe('The newest one.'),
    pageviews: z.int(),
    visitors: z.int(),
    sessions: z.int().describe('Those with the page.'),
    entries: z.int().describe('Sessions that began with it.'),
    exits: z.int().describe('Sessions whose last page it is.'),
    exit_rate: z.number().describe('Exits in per cent of sessions.'),
    bounce_rate: z.number().describe('Of the entries, in per cent.'),
    conversions: z.int().describe('Those whose own event has the path.'),
    revenue_cents: z.int().describe('Of payments that are credited to sessions that began with it.'),
    time_on_page_seconds: z
      .number()
      .nullable()
      .describe('Mean time in sight of a page view; null where none is known.'),
    scroll_depth: z
      .number()
      .nullable()
      .describe('Mean of the lowest part that a session saw, in per cent; null where none is known.'),
  })
  .meta({ id: 'PageReportRow' })

export const PageReport = z
  .object({ range: Range, sort: z.enum(pageSorts), order: z.enum(sortOrders), rows: z.array(PageReportRow) })
  .meta({ id: 'PageReport' })
export type PageReport = z.output<typeof PageReport>
