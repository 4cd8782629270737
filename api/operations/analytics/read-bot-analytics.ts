/** GET /v1/analytics/bots: visits of crawlers in a range. */
import { z } from 'zod'
import {
  type BotBucket,
  type BotCounts,
  type BotReport,
  readBotCounts,
  readBotReport,
  sumOf,
} from '../../../clickhouse/queries/bot-visits.ts'
import { readCurrentBuild } from '../../../postgres/tables/figures/figure-builds.ts'
import { type BotCategory, botCategories } from '../../../schemas/event/row.ts'
import { laxIntOr } from '../../../schemas/lax.ts'
import { botRowsDefault, botRowsMax } from '../../../schemas/limits/bot-limits.ts'
import { botRetentionDays } from '../../../schemas/limits/retention-limits.ts'
import { BotAnalytics } from '../../../schemas/resources/bot-analytics.ts'
import { type Bucket, bucketsOf, type TimeRange } from '../../../schemas/time/time-range.ts'
import { dayMs } from '../../../schemas/time/time-zone.ts'
import { type Context, defineOperation } from '../define.ts'
import { comparedSpan, rangeOf, rangeParameters, shownRange, timesOf } from './range-query.ts'

const BotQuery = z.object({
  ...rangeParameters,
  limit: laxIntOr(botRowsDefault, { ge: 1, le: botRowsMax, description: 'Rows of a list.' }),
})

type BotContext = Context<{ readonly query: typeof BotQuery }>

export const readBotAnalytics = defineOperation({
  name: 'bots.read',
  http: { method: 'GET', path: '/v1/analytics/bots' },
  tool: 'svc.bot_analytics',
  summary: 'Read the visits of crawlers in a period.',
  description:
    'Which came, whose and what for, whether they are genuine, and which pages they read. Kept for 180 days, whatever the plan.',
  tag: 'Analytics',
  effect: 'read',
  scope: 'analytics:read',
  isShared: true,
  input: { query: BotQuery },
  output: BotAnalytics,
  async handle(context) {
    const { query, workspace, stores } = context
    return stores.share(JSON.stringify(['bots', query, workspace]), () => answer(context))
  },
})

async function answer({ query, workspace, stores, clock }: BotContext): Promise<BotAnalytics> {
  const now = clock.now()
  // The overview counts by this timezone too, and has the same visits in the same range.
  const build = await readCurrentBuild(stores.pg, workspace.id)
  const range = rangeOf(query, build?.timezone ?? workspace.timezone, now)
  const buckets = bucketsOf(range)
  const readableFrom = now - botRetentionDays * dayMs
  const before = comparedSpan(range, readableFrom)
  const ofWorkspace = { workspaceId: workspace.id, readableFrom }
  const [report, previous] = await Promise.all([
    readBotReport(stores.ch, { ...ofWorkspace, ...spanOf(range) }, buckets, query.limit),
    before ? readBotCounts(stores.ch, { ...ofWorkspace, ...before }) : null,
  ])
  return { totals: totalsOf(report, range, previous), ...listsOf(report, buckets) }
}

function spanOf({ start, end }: TimeRange) {
  return { start, end }
}

function totalsOf(report: BotReport, range: TimeRange, previous: BotCounts | null): BotAnalytics['totals'] {
  const visitsOf = (category: BotCategory) =>
    report.series.reduce((visits, { categories }) => visits + (categories.get(category) ?? 0), 0)
  const categories = Object.keys(botCategories) as BotCategory[]
  return {
    ...shownCounts(sumOf(report.series)),
    bots: report.names,
    pages: report.paths,
    categories: Object.fromEntries(categories.map((category) => [category, visitsOf(category)])),
    range: shownRange(range),
    previous: previous && shownCounts(previous),
  }
}

function shownCounts({ visits, confirmed, spoofed }: BotCounts) {
  return { visits, verified_visits: confirmed, spoofed_visits: spoofed }
}

function listsOf({ series, bots, pages }: BotReport, buckets: readonly Bucket[]): Omit<BotAnalytics, 'totals'> {
  const shownTime = (moment: number) => new Date(moment).toISOString()
  return {
    series: series.map((point, at) => shownPoint(point, buckets[at]!)),
    bots: bots.map(({ lastSeenAt, ...bot }) => ({ ...bot, last_seen_at: shownTime(lastSeenAt) })),
    pages: pages.map(({ lastSeenAt, ...page }) => ({ ...page, last_seen_at: shownTime(lastSeenAt) })),
  }
}

function shownPoint({ categories, ...counts }: BotBucket, bucket: Bucket): BotAnalytics['series'][number] {
  return {
    label: bucket.label,
    ...timesOf(bucket),
    ...shownCounts(counts),
    categories: Object.fromEntries(categories),
  }
}
