/**
 * The SQL of pages of whole local days. Cells have the figures of days that are over; rows of `sessions` those of other days, and
 * of chosen sessions. How visitors are counted by first appearance stands in overview/figures-sql.ts.
 */

import { dayMs } from '../../../schemas/time/time-zone.ts'
import type { SumName } from '../../rollups/appearance.ts'
import { cellKinds } from '../../rollups/appearance.ts'
import { moment } from '../../rollups/event-sql.ts'
import type { EventsOfRange } from '../chosen-events.ts'
import { type CellDays, closedDays, inBuild, isFolded, isSome, openDays, staleDays } from '../overview/figure-parts.ts'
import type { DaySpan } from '../overview/pieces.ts'
import { choose } from '../overview/read-filtered.ts'
import { fewRowsStatement, type Reader } from '../reader.ts'
import { type PageParts, pagePart } from './page-part.ts'

const { page } = cellKinds

/** Figures of a page, and the sums of its appearances that they are. */
const plainSums = {
  pageviews: 'pageviews',
  entries: 'begun',
  bounces: 'bounces',
  exits: 'exits',
  conversions: 'conversions',
  engaged_ms: 'engaged_ms',
  timed_views: 'timed_views',
  depths: 'depths',
  scrolled: 'scrolled',
} as const satisfies Record<string, SumName>
const sumsOf = (sqlOf: (sum: SumName) => string) =>
  Object.fromEntries(Object.entries(plainSums).map(([figure, sum]) => [figure, sqlOf(sum)]))

/** Days whose list of pages in the cells is cut. */
export async function readCutListDays(
  ch: Reader,
  { workspaceId, build, filters }: EventsOfRange,
  { from, to }: DaySpan,
): Promise<number[]> {
  if (from > to || filters !== undefined) return []
  const rows = await ch.query<{ day: number }>(
    `SELECT day FROM cells FINAL WHERE ${inBuild} AND kind=${page} AND key='' AND day>={from:UInt16} AND day<={to:UInt16} AND is_cut`,
    { workspace: workspaceId, build, from, to },
    { settings: fewRowsStatement },
  )
  return rows.map(({ day }) => day)
}

export async function dayPagesSql(
  ch: Reader,
  request: EventsOfRange,
  days: DaySpan,
  cells: CellDays,
): Promise<PageParts> {
  if (request.filters !== undefined) return chosenPart(ch, request, days)
  const [closed, open, stale] = [closedDays(days, cells), openDays(days, cells), staleDays(days, cells)]
  return {
    parts: [...(isSome(closed) ? [cellsPart] : []), ...(isSome(open) || stale.length > 0 ? [sessionsPart] : [])],
    params: {
      since: days.from,
      closed_from: closed.from,
      closed_to: Math.max(0, closed.to),
      stale,
      open_from: open.from,
      open_to: Math.max(0, open.to),
    },
  }
}

const sessionsSql = 'if(day>{since:UInt16},seen.fresh,seen.sessions)'

const cellsPart = pagePart(
  {
    page: 'cityHash64(seen.key)',
    name: 'toString(seen.key)',
    ...sumsOf((sum) => `seen.${sum}`),
    visitors: 'arraySum((prev,n)->if(prev<{since:UInt16},n,0),seen.prev_days,seen.visitors)',
    sessions: sessionsSql,
  },
  `FROM cells FINAL ARRAY JOIN seen WHERE ${inBuild} AND kind=${page} AND cells.key=''
    AND day>={closed_from:UInt16} AND day<={closed_to:UInt16} AND day NOT IN {stale:Array(UInt16)}`,
)

const sessionsPart = pagePart(
  {
    page: 'cityHash64(seen.key)',
    name: 'toString(seen.key)',
    ...sumsOf((sum) => `sum(seen.${sum})`),
    visitors: 'countIf(seen.prev_day<{since:UInt16})',
    sessions: `sum(${sessionsSql})`,
  },
  `FROM sessions FINAL ARRAY JOIN seen WHERE ${inBuild}
    AND (day>={open_from:UInt16} AND day<={open_to:UInt16} OR day IN {stale:Array(UInt16)}) AND seen.kind=${page} GROUP BY seen.key`,
)

const columns = ['kind', 'key', 'fresh', ...Object.values(plainSums)] as const

/** First appearances are known for all sessions together, not for some: their visitors are told apart one by one. */
async function chosenPart(ch: Reader, request: EventsOfRange, { from, to }: DaySpan): Promise<PageParts> {
  const { workspaceId, build, timezone, filters, start, end } = request
  const window = { from: Math.max(0, start - dayMs), to: end + dayMs }
  const { selection, calendar } = await choose(ch, { workspaceId, build, timezone, filters: filters!, ...window })
  const around = `occurred_at>=${moment('look_from')} AND occurred_at<${moment('look_to')} AND ${isFolded}`
  const lists = columns.map((name) => `seen.${name} AS seen_${name}`)
  const rows = `SELECT visitor,day,${lists.join(',')} FROM sessions FINAL
    WHERE ${inBuild} AND day>={since:UInt16} AND day<={until:UInt16} AND ${selection.chosenSql(around)}`
  const joined = columns.map((name) => `seen_${name} AS its_${name}`)
  const isWanted = selection.wantedPathSql ? ` AND ${selection.wantedPathSql('its_key')}` : ''
  const part = pagePart(
    {
      page: 'cityHash64(its_key)',
      name: 'toString(its_key)',
      ...sumsOf((sum) => `sum(its_${sum})`),
      visitors: 'uniqExactIf(visitor,its_pageviews>0)',
      // A session that goes on into a second day counts there as well where that is the first one.
      sessions: 'countIf(its_pageviews>0 AND (its_fresh>0 OR day={since:UInt16}))',
    },
    `FROM (${rows}) ARRAY JOIN ${joined.join(',')} WHERE its_kind=${page}${isWanted} GROUP BY its_key`,
  )
  return {
    parts: [part],
    params: {
      ...selection.params,
      ...calendar,
      since: from,
      until: to,
      look_from: start - 3 * dayMs,
      look_to: end + 3 * dayMs,
    },
  }
}
