/** Counts beside the figures of visitors' events: crawlers, clicks on short links, who is live, whether there is anything. */
import { liveWindowMs } from '../../../schemas/limits.ts'
import type { Span } from '../../../schemas/time-range.ts'
import { moment } from '../../rollups/event-sql.ts'
import { clicksCounted } from '../link-clicks.ts'
import { spanParams, within } from '../reader.ts'
import { isFolded, otherPeriod, part } from './figure-parts.ts'

export interface PeriodCounts {
  readonly current: number
  readonly previous: number
}

export interface OtherCounts {
  readonly botVisits: PeriodCounts
  readonly linkClicks: PeriodCounts
  /** Distinct visitors of the last minutes. */
  readonly liveVisitors: number
  /** Whether the workspace has any readable event. */
  readonly hasEvents: boolean
}

export interface CountsRequest {
  readonly workspaceId: number
  readonly current: Span
  readonly previous: Span
  readonly now: number
  /** Rows before these moments are as if they weren't there. */
  readonly readableFrom: number
  readonly botsReadableFrom: number
}

/** By key, what is counted, and of which rows. */
const counts: Readonly<Record<string, readonly [count: string, rows: string]>> = {
  bots: ['count()', `bot_visits WHERE ${within('bots_from', 'bots_to')}`],
  'bots before': ['count()', `bot_visits WHERE ${within('bots_before_from', 'bots_before_to')}`],
  clicks: [clicksCounted, `link_clicks WHERE ${within('clicks_from', 'clicks_to')} AND link_clicks.kind='click'`],
  'clicks before': [
    clicksCounted,
    `link_clicks WHERE ${within('before_from', 'before_to')} AND link_clicks.kind='click'`,
  ],
  live: [
    'uniqExact(visitor)',
    `events WHERE workspace_id={workspace:UInt32} AND visitor!=0 AND occurred_at>=${moment('live_from')} AND occurred_at<=${moment('now')} AND ${isFolded}`,
  ],
  any: [
    'count()',
    `(SELECT 1 FROM sessions WHERE workspace_id={workspace:UInt32} AND build={build:UInt32} AND last_at>=${moment('readable_from')} LIMIT 1)`,
  ],
}

/** Parts of the statement of figures, each with a bucket of its own: of each bucket some rows are answered. */
export const countParts: readonly string[] = Object.entries(counts).map(([key, [count, rows]], at) =>
  part(otherPeriod, `0 AS kind,'${key}' AS key,'' AS detail,${at} AS bucket`, { visitors: count }, `FROM ${rows}`),
)

export function countParams(request: CountsRequest): Record<string, number> {
  const { workspaceId, current, previous, now, readableFrom, botsReadableFrom } = request
  const spans = {
    clicks: spanParams({ ...current, workspaceId, readableFrom }),
    before: spanParams({ ...previous, workspaceId, readableFrom }),
    bots: spanParams({ ...current, workspaceId, readableFrom: botsReadableFrom }),
    bots_before: spanParams({ ...previous, workspaceId, readableFrom: botsReadableFrom }),
  }
  const ofSpans = Object.entries(spans).flatMap(([name, { from, to }]) => [
    [`${name}_from`, from],
    [`${name}_to`, to],
  ])
  const live_from = Math.max(readableFrom, now - liveWindowMs)
  return { ...Object.fromEntries(ofSpans), now, live_from, readable_from: readableFrom }
}

/** @param countOf of a part's key */
export function otherCountsOf(countOf: (key: string) => number): OtherCounts {
  return {
    botVisits: { current: countOf('bots'), previous: countOf('bots before') },
    linkClicks: { current: countOf('clicks'), previous: countOf('clicks before') },
    liveVisitors: countOf('live'),
    hasEvents: countOf('any') > 0,
  }
}
