/**
 * Crawler visits of a range, counted from their rows: nothing aggregates them, so that every figure is as exact as the rows.
 * A statement over very many of them goes to ClickHouse's disk rather than beyond its memory, and none outlives its deadline.
 */
import { clickhouseQueryMemoryMax } from '../../schemas/limits.ts'
import { type BotCategory, botVerified } from '../../schemas/row.ts'
import type { Span } from '../../schemas/time-range.ts'
import { bucketStart, inRange, type ReadableSpan, type Reader, spanParams } from './overview/span.ts'

export interface BotCounts {
  readonly visits: number
  /** Shown to be the crawler's that the user agent names, and shown not to be. */
  readonly confirmed: number
  readonly spoofed: number
}

export interface BotBucket extends BotCounts {
  readonly categories: ReadonlyMap<BotCategory, number>
}

export interface VisitingBot {
  readonly name: string
  readonly operator: string
  readonly category: BotCategory
  readonly verified: boolean | null
  readonly visits: number
  readonly pages: number
  /** Milliseconds since 1970 UTC. */
  readonly lastSeenAt: number
}

export interface VisitedPage {
  readonly path: string
  readonly visits: number
  readonly bots: number
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

/** Half of what a statement may take: from there on groups go to the disk. */
const settings = { max_bytes_before_external_group_by: String(clickhouseQueryMemoryMax / 2) }
/** Exact up to 10,000, within 1 % beyond. */
const distinctPaths = 'uniqCombined64(19)(path)'
const isVerified = `verified = ${botVerified.yes}`
const isSpoofed = `verified = ${botVerified.no}`

/** @param buckets of the span, in order */
export async function readBotReport(
  ch: Reader,
  span: ReadableSpan,
  buckets: readonly Span[],
  limit: number,
): Promise<BotReport> {
  const [series, distinct, bots, pages] = await Promise.all([
    readSeries(ch, span, buckets),
    readDistinct(ch, span),
    readBots(ch, span, limit),
    readPages(ch, span, limit),
  ])
  return { series, ...distinct, bots, pages }
}

/** Of a whole span. */
export async function readBotCounts(ch: Reader, span: ReadableSpan): Promise<BotCounts> {
  const [row] = await ch.query<BotCounts>(
    `SELECT count() AS visits, countIf(${isVerified}) AS confirmed, countIf(${isSpoofed}) AS spoofed
     FROM bot_visits WHERE ${inRange}`,
    spanParams(span),
  )
  return row!
}

async function readSeries(ch: Reader, span: ReadableSpan, buckets: readonly Span[]): Promise<BotBucket[]> {
  const rows = await ch.query<BotCounts & { bucket: number; category: BotCategory }>(
    `SELECT ${bucketStart} AS bucket, category, count() AS visits,
       countIf(${isVerified}) AS confirmed, countIf(${isSpoofed}) AS spoofed
     FROM bot_visits WHERE ${inRange} GROUP BY bucket, category ORDER BY bucket, category`,
    { ...spanParams(span), bucket_starts: buckets.map(({ start }) => start) },
  )
  return buckets.map(({ start }) => {
    const own = rows.filter(({ bucket }) => bucket === start)
    return { ...sumOf(own), categories: new Map(own.map(({ category, visits }) => [category, visits])) }
  })
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

async function readDistinct(ch: Reader, span: ReadableSpan): Promise<{ names: number; paths: number }> {
  const [row] = await ch.query<{ names: number; paths: number }>(
    `SELECT uniqExact(bot_name) AS names, ${distinctPaths} AS paths FROM bot_visits WHERE ${inRange}`,
    spanParams(span),
    { settings },
  )
  return row!
}

function readBots(ch: Reader, span: ReadableSpan, limit: number): Promise<VisitingBot[]> {
  return ch.query<VisitingBot>(
    `SELECT bot_name AS name, operator, category, verified AS state, count() AS visits,
       ${distinctPaths} AS pages, toUnixTimestamp64Milli(max(occurred_at)) AS lastSeenAt
     FROM bot_visits WHERE ${inRange}
     GROUP BY name, operator, category, state ORDER BY visits DESC, name, state LIMIT {limit:UInt32}`,
    { ...spanParams(span), limit },
    { settings, decode: ({ state, ...bot }) => ({ ...bot, verified: verifiedOf(state) }) as VisitingBot },
  )
}

function verifiedOf(state: unknown): boolean | null {
  return state === botVerified.unknown ? null : state === botVerified.yes
}

function readPages(ch: Reader, span: ReadableSpan, limit: number): Promise<VisitedPage[]> {
  return ch.query<VisitedPage>(
    `SELECT path, count() AS visits, uniqExact(bot_name) AS bots, toUnixTimestamp64Milli(max(occurred_at)) AS lastSeenAt
     FROM bot_visits WHERE ${inRange} GROUP BY path ORDER BY visits DESC, path LIMIT {limit:UInt32}`,
    { ...spanParams(span), limit },
    { settings },
  )
}
