/** Visits of crawlers as the API shows them. docs/metrics.md says what each figure means. */
import { z } from 'zod'
import { botCategories } from '../event/row.ts'
import { dateTime } from './date-time.ts'
import { previousMeaning, Range } from './range.ts'

const count = z.int()
const categoryNames = Object.keys(botCategories) as [string, ...string[]]
const category = z.enum(categoryNames).describe('What the crawler comes for.')
const counts = {
  visits: count,
  verified_visits: count.describe('Shown to come from the operator of that crawler.'),
  spoofed_visits: count.describe('Shown to come from elsewhere.'),
}

const BotSeriesPoint = z
  .object({
    label: z.string(),
    start: dateTime,
    end: dateTime,
    ...counts,
    categories: z.record(z.string(), count).describe('Visits of each category that has any.'),
  })
  .meta({ id: 'BotSeriesPoint', examples: [exampleOfPoint()] })

const BotRow = z
  .object({
    name: z.string(),
    operator: z.string().describe('Empty when unknown.'),
    category,
    verified: z
      .boolean()
      .nullable()
      .describe('Whether it is the crawler that it names; null where nothing tells. One row for each.'),
    visits: count,
    pages: count.describe('Distinct paths.'),
    last_seen_at: dateTime,
  })
  .meta({
    id: 'BotRow',
    examples: [
      {
        name: 'GPTBot',
        operator: 'OpenAI',
        category: 'ai_training',
        verified: true,
        visits: 128,
        pages: 57,
        last_seen_at: '2026-11-20T09:30:00.000Z',
      },
    ],
  })

const BotPageRow = z.object({ path: z.string(), visits: count, last_seen_at: dateTime }).meta({ id: 'BotPageRow' })

export const BotAnalytics = z
  .object({
    totals: z.object({
      ...counts,
      bots: count.describe('Distinct names.'),
      pages: count.describe('Distinct paths.'),
      categories: z.object(Object.fromEntries(categoryNames.map((name) => [name, count]))).describe('Visits of each.'),
      range: Range,
      previous: z.object(counts).nullable().describe(previousMeaning),
    }),
    series: z.array(BotSeriesPoint),
    bots: z.array(BotRow).describe('By visits.'),
    pages: z.array(BotPageRow).describe('By visits.'),
  })
  .meta({ id: 'BotAnalytics' })

export type BotAnalytics = z.output<typeof BotAnalytics>

function exampleOfPoint() {
  return {
    label: '2026-11-20',
    start: '2026-11-20T00:00:00.000Z',
    end: '2026-11-21T00:00:00.000Z',
    visits: 30,
    verified_visits: 25,
    spoofed_visits: 1,
    categories: { search: 18, ai_training: 12 },
  }
}
