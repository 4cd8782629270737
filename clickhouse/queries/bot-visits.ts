/**
 * Crawler visits of a range. For whole quarters of an hour and whole days, the SQL repeats the expressions of the table's
 * projections (migrations/0002_bot_visits.sql). So ClickHouse reads sums instead of rows. Both ends of the range are read
 * as rows. A part without projections gives the same figures, more slowly.
 */

import { groupBy } from '../../runtime/lists.ts'
import { type BotCategory, botVerified } from '../../schemas/event/row.ts'
import type { Span } from '../../schemas/time/time-range.ts'
import { dayMs } from '../../schemas/time/time-zone.ts'
import { moment } from '../rollups/event-sql.ts'
import { type ReadableSpan, type Reader, spanParams, spillingStatement } from './reader.ts'

export interface BotCounts {
  readonly visits: number
  /** Shown to be the crawler's that the user agent names, and shown not to be. */
  readonly confirmed: number
  readonly spoofed: number
}

export interface BotBucket extends BotCounts {
  readonly categories: ReadonlyMap<BotCategory, number>
}

interface VisitingBot {
  readonly name: string
  readonly operator: string
  readonly category: BotCategory
  readonly verified: boolean | null
  readonly visits: number
  readonly pages: number
  /** Milliseconds since 1970 UTC. */
  readonly lastSeenAt: number
}

interface VisitedPage {
  readonly path: string
  readonly visits: number
  readonly lastSeenAt: number
}

export interface BotReport {
  /** One for each bucket, in order. */
  readonly series: readonly BotBucket[]
  /** Distinct names of bots, and distinct paths. */
  readonly names: number
  readonly paths: number
  readonly bots: readonly VisitingBot[]
  readonly pages: readonly VisitedPage[]
}

/** Leaves out the events that a crawler's script sent beside a page view. */
export const isVisit = "reported_by!='track_event'"

const quarterMs = 900_000
const distinctPaths = 'uniqCombined64State(18)(path)'

/** @param buckets in order, within the span */
export async function readBotReport(
  ch: Reader,
  span: ReadableSpan,
  buckets: readonly Span[],
  limit: number,
): Promise<BotReport> {
  const [series, bots, pages] = await Promise.all([
    readSeries(ch, span, buckets),
    readBots(ch, span, limit),
    readPages(ch, span, limit),
  ])
  return { series, ...bots, ...pages }
}

/** The counts of a whole span. */
export async function readBotCounts(ch: Reader, span: ReadableSpan): Promise<BotCounts> {
  const [all] = await readSeries(ch, span, [span])
  return all!
}

/** All of them together. */
export function sumOf(counts: readonly BotCounts[]): BotCounts {
  const sum = { visits: 0, confirmed: 0, spoofed: 0 }
  for (const { visits, confirmed, spoofed } of counts) {
    sum.visits += visits
    sum.confirmed += confirmed
    sum.spoofed += spoofed
  }
  return sum
}

/** Every zone's hours and days begin with a quarter of an hour: only the ends of a range can lie within one. */
async function readSeries(ch: Reader, span: ReadableSpan, buckets: readonly Span[]): Promise<BotBucket[]> {
  interface Row {
    bucket: number
    category: BotCategory
    verified: number
    visits: number
  }
  const rows = await ch.query<Row>(
    `SELECT roundDown(toInt64(toUnixTimestamp(quarter)) * 1000, {bucket_starts:Array(Int64)}) AS bucket, category, verified, sum(part) AS visits
     FROM (${united(byQuarters, 'toStartOfFifteenMinutes(occurred_at) AS quarter, category, verified', 'count() AS part')})
     GROUP BY bucket, category, verified ORDER BY bucket, category, verified`,
    { ...pieceParams(span, byQuarters), bucket_starts: buckets.map(({ start }) => start) },
  )
  const byBucket = groupBy(rows, ({ bucket }) => bucket)
  return buckets.map(({ start }) => {
    const own = byBucket.get(start) ?? []
    const visitsOf = (is: (row: Row) => boolean) => own.filter(is).reduce((sum, { visits }) => sum + visits, 0)
    const categories = [...new Set(own.map(({ category }) => category))]
    return {
      visits: visitsOf(() => true),
      confirmed: visitsOf(({ verified }) => verified === botVerified.yes),
      spoofed: visitsOf(({ verified }) => verified === botVerified.no),
      categories: new Map(categories.map((category) => [category, visitsOf((row) => row.category === category)])),
    }
  })
}

const botKey = 'bot_name, operator, category, verified'
interface BotKey {
  bot_name: string
  operator: string
  category: BotCategory
  verified: number
}

async function readBots(ch: Reader, span: ReadableSpan, limit: number): Promise<Pick<BotReport, 'names' | 'bots'>> {
  const rows = await ch.query<BotKey & { visits: number; lastSeenAt: number; names: number }>(
    `SELECT ${botKey}, sum(part) AS visits, toUnixTimestamp64Milli(max(last)) AS lastSeenAt,
       uniqExact(bot_name) OVER () AS names
     FROM (${united(byQuarters, botKey, 'count() AS part, max(occurred_at) AS last')})
     GROUP BY ${botKey} ORDER BY visits DESC, ${botKey} LIMIT {limit:UInt32}`,
    { ...pieceParams(span, byQuarters), limit },
    { settings: spillingStatement },
  )
  const keyOf = ({ bot_name, operator, category, verified }: BotKey) =>
    JSON.stringify([bot_name, operator, category, verified])
  const pages = await readPagesOfBots(ch, span, [...new Set(rows.map(({ bot_name }) => bot_name))])
  const pagesByBot = new Map(pages.map((row) => [keyOf(row), row.pages]))
  return {
    names: rows[0]?.names ?? 0,
    bots: rows.map((row) => ({
      name: row.bot_name,
      operator: row.operator,
      category: row.category,
      verified: verifiedOf(row.verified),
      visits: row.visits,
      pages: pagesByBot.get(keyOf(row)) ?? 0,
      lastSeenAt: row.lastSeenAt,
    })),
  }
}

function verifiedOf(state: number): boolean | null {
  return state === botVerified.unknown ? null : state === botVerified.yes
}

/** Exact up to 10,000, within 1 % beyond. */
function readPagesOfBots(
  ch: Reader,
  span: ReadableSpan,
  names: readonly string[],
): Promise<(BotKey & { pages: number })[]> {
  return ch.query(
    `SELECT ${botKey}, uniqCombined64Merge(18)(paths) AS pages
     FROM (${united(byDays, botKey, `${distinctPaths} AS paths`, 'bot_name IN {names:Array(String)}')})
     GROUP BY ${botKey}`,
    { ...pieceParams(span, byDays), names },
    { settings: spillingStatement },
  )
}

async function readPages(ch: Reader, span: ReadableSpan, limit: number): Promise<Pick<BotReport, 'paths' | 'pages'>> {
  const rows = await ch.query<VisitedPage & { paths: number }>(
    `SELECT path, sum(part) AS visits, toUnixTimestamp64Milli(max(last)) AS lastSeenAt, count() OVER () AS paths
     FROM (${united(byDays, 'path', 'count() AS part, max(occurred_at) AS last')})
     GROUP BY path ORDER BY visits DESC, path LIMIT {limit:UInt32}`,
    { ...pieceParams(span, byDays), limit },
    { settings: spillingStatement },
  )
  return {
    paths: rows[0]?.paths ?? 0,
    pages: rows.map(({ path, visits, lastSeenAt }) => ({ path, visits, lastSeenAt })),
  }
}

/** The period of a projection: its length, and the SQL condition of whole periods, as the projection writes it. */
interface Unit {
  readonly ms: number
  readonly isWhole: string
}

const byQuarters: Unit = {
  ms: quarterMs,
  isWhole: `toStartOfFifteenMinutes(occurred_at) >= toDateTime({whole_from:UInt32}, 'UTC')
    AND toStartOfFifteenMinutes(occurred_at) < toDateTime({whole_to:UInt32}, 'UTC')`,
}
const byDays: Unit = {
  ms: dayMs,
  isWhole: `toDate(occurred_at, 'UTC') >= toDate(toDateTime({whole_from:UInt32}, 'UTC'), 'UTC')
    AND toDate(occurred_at, 'UTC') < toDate(toDateTime({whole_to:UInt32}, 'UTC'), 'UTC')`,
}

/** SQL of the groups of a span's whole units, from their sums, and of the rows at its ends. */
function united({ isWhole }: Unit, keys: string, values: string, condition = '1'): string {
  const names = keys.replace(/^.* AS (\w+)/, '$1')
  const sumsWhere = (where: string) =>
    `SELECT ${keys}, ${values} FROM bot_visits WHERE ${where} AND ${isVisit} AND ${condition} GROUP BY ${names}`
  const ends = `workspace_id = {workspace:UInt32} AND (${between('from', 'head_to')} OR ${between('tail_from', 'to')})`
  return `${sumsWhere(`workspace_id = {workspace:UInt32} AND ${isWhole}`)} UNION ALL ${sumsWhere(ends)}`
}

function between(from: string, to: string): string {
  return `(occurred_at >= ${moment(from)} AND occurred_at < ${moment(to)})`
}

/** Without a whole unit all of the span is its head. */
function pieceParams(span: ReadableSpan, { ms }: Unit): Record<string, number> {
  const { workspace, from, to } = spanParams(span)
  const wholeFrom = Math.ceil(from / ms) * ms
  const wholeTo = Math.max(wholeFrom, Math.floor(to / ms) * ms)
  const isWithin = wholeFrom >= to
  return {
    workspace,
    from,
    to,
    head_to: isWithin ? to : wholeFrom,
    tail_from: isWithin ? to : wholeTo,
    // An empty span has the sums of no time at all; seconds fit the parameter.
    whole_from: Math.min(wholeFrom / 1000, 2 ** 32 - 1),
    whole_to: Math.min((isWithin ? wholeFrom : wholeTo) / 1000, 2 ** 32 - 1),
  }
}
