/** Sessions that began in a range, counted by one of their properties. Held by test/integration/breakdown-conversions.test.ts. */
import { channelOf, channels } from '../../schemas/reference/channels.ts'
import type { BreakdownName } from '../../schemas/resources/breakdown.ts'
import type { SessionFilters } from '../../schemas/session-filters.ts'
import type { Span } from '../../schemas/time/time-range.ts'
import { dayMs, localDayAt } from '../../schemas/time/time-zone.ts'
import { cityOfSession, moment, regionKey, systemKey } from '../rollups/event-sql.ts'
import { inBuild, isFolded } from './overview/figure-parts.ts'
import { coverageSql } from './overview/figures-sql.ts'
import { choose, readOrigins } from './overview/read-filtered.ts'
import { fewRowsStatement, type Reader } from './reader.ts'

export interface BreakdownRequest extends Span {
  readonly workspaceId: number
  readonly build: number
  readonly timezone: string
  readonly filters: SessionFilters | undefined
  readonly by: BreakdownName
  readonly limit: number
}

export interface BreakdownGroup {
  readonly key: string
  /** The region's, of a row of a region or city; empty where none is known. */
  readonly region_name: string
  readonly visitors: number
  readonly sessions: number
  readonly bounces: number
  readonly duration_ms: number
}

const columns: Readonly<Record<Exclude<BreakdownName, 'channel'>, string>> = {
  source: 'toString(source)',
  medium: 'toString(medium)',
  campaign: 'toString(campaign)',
  entry_path: 'toString(entry_path)',
  exit_path: 'toString(exit_path)',
  device: 'toString(device)',
  browser: 'toString(browser)',
  os: systemKey,
  country: 'toString(country)',
  region: regionKey,
  city: cityOfSession,
  hostname: 'toString(hostname)',
  referrer: 'toString(referrer)',
  content: 'toString(content)',
  language: 'toString(language)',
  screen: 'toString(screen)',
}
const channelKey =
  'transform((toString(source),toString(medium)),arrayZip({sources:Array(String)},{media:Array(String)}),{channels:Array(String)},{other:String})'

export async function readBreakdown(ch: Reader, request: BreakdownRequest): Promise<BreakdownGroup[]> {
  const { workspaceId, build, timezone, filters, by, start, end, limit } = request
  const params = {
    workspace: workspaceId,
    build,
    start,
    end,
    limit,
    first_day: localDayAt(start, timezone),
    last_day: localDayAt(end, timezone),
  }
  const isInRange = `${inBuild} AND nth_day=1 AND day>={first_day:UInt16} AND day<={last_day:UInt16}
    AND first_at>=${moment('start')} AND first_at<${moment('end')}`
  const [chosen, origins] = await Promise.all([
    filters === undefined ? undefined : choose(ch, { workspaceId, build, timezone, filters, from: start, to: end }),
    by === 'channel' ? readChannels(ch, isInRange, params) : undefined,
  ])
  const chosenSql = chosen?.selection.chosenSql(
    `occurred_at>=${moment('look_from')} AND occurred_at<${moment('look_to')} AND ${isFolded}`,
  )
  const key = by === 'channel' ? channelKey : columns[by]
  const keyed = `SELECT visitor, ${key} AS key${hasRegionName(by) ? ',toString(region_name) AS name' : ''}, is_bounce, session_ms
    FROM sessions FINAL WHERE ${isInRange}${chosenSql === undefined ? '' : ` AND ${chosenSql}`}`
  return ch.query<BreakdownGroup>(
    `WITH ${coverageSql} AS coverage
     SELECT key, ${regionNameOf(by)} AS region_name, uniqExact(visitor) AS visitors, count() AS sessions, sum(is_bounce) AS bounces, sum(session_ms) AS duration_ms
     FROM (${keyed})
     GROUP BY key ORDER BY visitors DESC, sessions DESC, key LIMIT {limit:UInt32}`,
    {
      ...params,
      ...origins,
      ...(chosen && { ...chosen.selection.params, ...chosen.calendar }),
      look_from: start - 2 * dayMs,
      look_to: end + 3 * dayMs,
    },
    { settings: fewRowsStatement },
  )
}

const hasRegionName = (by: BreakdownName) => by === 'region' || by === 'city'
const regionNameOf = (by: BreakdownName) => (hasRegionName(by) ? 'max(name)' : "''")

/** Only TypeScript knows a source's channel: sources of the range are looked up first. */
async function readChannels(ch: Reader, isInRange: string, params: Record<string, unknown>) {
  const rows = await readOrigins(ch, isInRange, params)
  return {
    sources: rows.map(({ source }) => source),
    media: rows.map(({ medium }) => medium),
    channels: rows.map(({ source, medium }) => channelOf(source, medium)),
    other: channels.at(-1),
  }
}
