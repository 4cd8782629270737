/**
 * Clicks on short links. A person's click counts once for its link, visitor and UTC hour. Each request is a row, so
 * that the count is the same for any nodes and any order of requests.
 */
import { hostOfUrl, moment } from '../rollups/event-sql.ts'
import type { Reader } from './reader.ts'

/** SQL of the key by which a person's clicks count once, over rows of kind `click`. */
export const countedOnce = "(link_id, visitor, toStartOfHour(occurred_at, 'UTC'))"

export interface LinkClickCounts {
  readonly clicks: number
  readonly total: number
  readonly visitors: number
  readonly bots: number
  readonly previews: number
  readonly prefetches: number
  readonly heads: number
  /** Milliseconds since 1970 UTC. */
  readonly lastClickedAt: number | null
}

/** Keys of the lists, in SQL over rows of `link_clicks`. An unknown one is empty. */
export const listKeys = {
  country: "if(country = toFixedString('', 2), '', toString(country))",
  referrer: hostOfUrl('referrer'),
  target: 'target_url',
  device: "if(device = 'unknown', '', toString(device))",
  browser: 'toString(browser)',
  system: 'toString(os)',
  city: 'toString(city)',
  way: 'toString(way)',
} as const

type ClickList = 'day' | keyof typeof listKeys

export interface ListedClicks {
  readonly list: ClickList
  /** A day since 1970, a country's code, a host, a target's URL (none: empty), or as the column has it. Unknown: empty. */
  readonly name: string
  /** That of a city's region, where it is known; else empty. */
  readonly region_name: string
  readonly clicks: number
}

interface ClickListsQuery {
  readonly workspaceId: number
  readonly linkId: number
  readonly readableFrom: number
  readonly daysFrom: number
  readonly timezone: string
}

const listed = 10
/** All that a link has, and as many of before. */
const targetsListed = 20

/**
 * People's clicks on one link: each local day with any from `daysFrom` on, and the names with most of all other lists.
 * Clicks that count once are listed where the first of them is, so that each list adds up to them.
 */
export function readClickLists(
  ch: Reader,
  { workspaceId, linkId, readableFrom, daysFrom, timezone }: ClickListsQuery,
): Promise<ListedClicks[]> {
  const lists = Object.keys(listKeys).map((list) => `'${list}'`)
  const day = 'toString(toInt32(toDate(occurred_at, {timezone:String})))'
  // All lists are of one pass, as each use of `counted` would read the clicks anew. A million clicks take 0.8 s so, and
  // 1.9 s where argMin takes the keys of the first.
  return ch.query<ListedClicks>(
    `WITH counted AS (
       SELECT * FROM link_clicks
       WHERE workspace_id = {workspace:UInt32} AND link_id = {link:UInt32} AND kind = 'click' AND occurred_at >= ${moment('from')}
       ORDER BY occurred_at, id LIMIT 1 BY ${countedOnce})
     SELECT list, name, region_name, clicks FROM (
       SELECT list, name, maxIf(toString(counted.region_name), list = 'city') AS region_name, count() AS clicks,
         row_number() OVER (PARTITION BY list ORDER BY clicks DESC, name) AS place
       FROM counted ARRAY JOIN ['day', ${lists.join()}] AS list, [${[day, ...Object.values(listKeys)].join()}] AS name
       WHERE list != 'day' OR occurred_at >= ${moment('daysFrom')}
       GROUP BY list, name)
     WHERE list = 'day' OR place <= if(list = 'target', ${targetsListed}, ${listed})
     ORDER BY list, place`,
    { workspace: workspaceId, link: linkId, from: readableFrom, daysFrom, timezone },
  )
}

/** Clicks of people on each of these links, by its id; a link without any isn't there. */
export async function countClicksOfLinks(
  ch: Reader,
  { workspaceId, linkIds, readableFrom }: { workspaceId: number; linkIds: readonly number[]; readableFrom: number },
): Promise<Map<number, number>> {
  const rows = await ch.query<{ link_id: number; clicks: number }>(
    `SELECT link_id, uniqExact(${countedOnce}) AS clicks FROM link_clicks
     WHERE workspace_id = {workspace:UInt32} AND link_id IN {links:Array(UInt32)} AND kind = 'click'
       AND occurred_at >= ${moment('from')}
     GROUP BY link_id`,
    { workspace: workspaceId, links: linkIds, from: readableFrom },
  )
  return new Map(rows.map(({ link_id, clicks }) => [link_id, clicks]))
}

/** Clicks on one link, as far back as `readableFrom`. */
export async function readLinkClicks(
  ch: Reader,
  { workspaceId, linkId, readableFrom }: { workspaceId: number; linkId: number; readableFrom: number },
): Promise<LinkClickCounts> {
  const [row] = await ch.query<LinkClickCounts>(
    `SELECT uniqExactIf(${countedOnce}, kind = 'click') AS clicks, countIf(kind = 'click') AS total,
       uniqExactIf(visitor, kind = 'click') AS visitors,
       countIf(kind = 'bot') AS bots, countIf(kind = 'preview') AS previews, countIf(kind = 'prefetch') AS prefetches,
       countIf(kind = 'head') AS heads,
       if(total = 0, NULL, toUnixTimestamp64Milli(maxIf(occurred_at, kind = 'click'))) AS lastClickedAt
     FROM link_clicks
     WHERE workspace_id = {workspace:UInt32} AND link_id = {link:UInt32} AND occurred_at >= ${moment('from')}`,
    { workspace: workspaceId, link: linkId, from: readableFrom },
  )
  return row!
}
