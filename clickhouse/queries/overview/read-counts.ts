/** Counts beside the figures of visitors' events: crawlers, clicks on short links, live visitors. */
import type { IdRange } from '../../../schemas/event/id-ranges.ts'
import { liveWindowMs } from '../../../schemas/limits/figure-limits.ts'
import type { Span } from '../../../schemas/time/time-range.ts'
import { idsIn, moment } from '../../rollups/event-sql.ts'
import { isVisit } from '../bot-visits.ts'
import { countedOnce } from '../link-clicks.ts'
import { isLive } from '../live-visitors.ts'
import { composedStatement, type Reader, spanParams } from '../reader.ts'
import { inWorkspace } from './figure-parts.ts'
import type { Counts } from './read-figures.ts'

interface PeriodCounts {
  readonly current: number
  readonly previous: number
}

/** `previous` is null if that period begins before crawlers' retention: a part of a period compares with nothing. */
interface BotCounts {
  readonly current: number
  readonly previous: number | null
}

export interface OtherCounts {
  /** Null where sessions are filtered: these are of no session. */
  readonly botVisits: BotCounts | null
  readonly linkClicks: PeriodCounts | null
  /** Distinct visitors of the last minutes. */
  readonly liveVisitors: number
  /** Pageviews and events of the day that the period before ends inside of; nothing where it ends with a day. */
  readonly cutBefore: Pick<Counts, 'pageviews' | 'events'>
}

export interface CountsRequest {
  readonly workspaceId: number
  readonly current: Span
  readonly previous: Span
  /** The part of the day that the period before ends inside of. */
  readonly cutBefore: Span | undefined
  readonly now: number
  /** Rows before these moments are as if they weren't there. */
  readonly readableFrom: number
  readonly botsReadableFrom: number
  /** Ids of the events that are seen. */
  readonly folded: readonly IdRange[]
}

export async function readCounts(ch: Reader, request: CountsRequest): Promise<OtherCounts> {
  const folded = idsIn(request.folded, 'folded')
  const parts = [
    part(
      'bots',
      `bot_visits WHERE ${isInEither('bots')} AND ${isVisit}`,
      `countIf(${isIn('bots')})`,
      `countIf(${isIn('bots_before')})`,
    ),
    part(
      'clicks',
      `link_clicks WHERE ${isInEither('clicks')} AND kind='click'`,
      `uniqExactIf(${countedOnce},${isIn('clicks')})`,
      `uniqExactIf(${countedOnce},${isIn('clicks_before')})`,
    ),
    part('live', `events WHERE ${inWorkspace} AND ${isLive} AND ${folded.sql}`, 'uniqExact(visitor)'),
  ]
  if (request.cutBefore !== undefined) {
    const cut = `events WHERE ${inWorkspace} AND occurred_at>=${moment('cut_from')} AND occurred_at<${moment('cut_to')} AND ${folded.sql}`
    parts.push(part('cut', cut, "countIf(kind='pageview')", 'count()'))
  }
  const rows = await ch.query<{ name: string } & PeriodCounts>(
    parts.join(' UNION ALL '),
    { ...countParams(request), ...folded.params },
    { settings: composedStatement },
  )
  const countsOf = (name: string): PeriodCounts => {
    const { current, previous } = rows.find((row) => row.name === name) ?? { current: 0, previous: 0 }
    return { current, previous }
  }
  const cut = countsOf('cut')
  const bots = countsOf('bots')
  const hasBotsBefore = request.previous.start >= request.botsReadableFrom
  return {
    botVisits: { ...bots, previous: hasBotsBefore ? bots.previous : null },
    linkClicks: countsOf('clicks'),
    // Its two columns are no periods: part() has pageviews in the first, and all events in the second.
    cutBefore: { pageviews: cut.current, events: cut.previous },
    liveVisitors: countsOf('live').current,
  }
}

function part(name: string, rows: string, current: string, previous = 'toUInt64(0)'): string {
  return `SELECT '${name}' AS name,${current} AS current,${previous} AS previous FROM ${rows}`
}

function isIn(span: string): string {
  return `occurred_at>=${moment(`${span}_from`)} AND occurred_at<${moment(`${span}_to`)}`
}

/** The one before ends where the period begins, or earlier. */
function isInEither(span: string): string {
  const first = `least({${span}_from:Int64},{${span}_before_from:Int64})`
  return `${inWorkspace} AND occurred_at>=fromUnixTimestamp64Milli(${first},'UTC') AND occurred_at<${moment(`${span}_to`)}`
}

function countParams(request: CountsRequest): Record<string, number> {
  const { workspaceId, current, previous, now, readableFrom, botsReadableFrom } = request
  const spans = {
    clicks: spanParams({ ...current, workspaceId, readableFrom }),
    clicks_before: spanParams({ ...previous, workspaceId, readableFrom }),
    bots: spanParams({ ...current, workspaceId, readableFrom: botsReadableFrom }),
    bots_before: spanParams({ ...previous, workspaceId, readableFrom: botsReadableFrom }),
  }
  const ofSpans = Object.entries(spans).flatMap(([name, { from, to }]) => [
    [`${name}_from`, from],
    [`${name}_to`, to],
  ])
  const { start: cut_from, end: cut_to } = request.cutBefore ?? { start: 0, end: 0 }
  const live_from = Math.max(readableFrom, now - liveWindowMs)
  return {
    ...Object.fromEntries(ofSpans),
    workspace: workspaceId,
    now,
    cut_from,
    cut_to,
    live_from,
  }
}
