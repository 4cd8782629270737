/**
 * Clicks on short links in the order of their arrival, for webhooks. A node of ingest stores the clicks of a lease in
 * the order of their ids, and an insert's rows of one UTC day at once. So the stored ids of a lease and day have no
 * gap, and one mark says which of them were reported. A click counts as in the link's figures: once for its link, visitor
 * and UTC hour, and here with the first of them that arrived.
 */
import type { ArrivalMark } from '../../schemas/event/arrival-mark.ts'
import { idsPerLease } from '../../schemas/limits/log-limits.ts'
import { hourMs } from '../../schemas/time/time-zone.ts'
import { eventMs, moment } from '../rollups/event-sql.ts'
import { countedOnce, listKeys } from './link-clicks.ts'
import type { Reader } from './reader.ts'

/** Milliseconds since 1970. Clicks before `from` are told to nobody. */
interface Untold {
  readonly workspaceId: number
  readonly from: number
  readonly told: readonly ArrivalMark[]
}

export interface Arrived {
  /** One for each lease and day with a click of any kind that isn't told. */
  readonly marks: readonly ArrivalMark[]
  /** Their first and last click. */
  readonly firstAt: number
  readonly lastAt: number
}

/** The oldest clicks that aren't told, as far as the bounds let. */
export async function readArrived(
  ch: Reader,
  { workspaceId, from, told }: Untold,
  { rowsMax, linksMax }: { readonly rowsMax: number; readonly linksMax: number },
): Promise<Arrived> {
  const rows = await ch.query<ArrivalMark & { firstAt: number; lastAt: number }>(
    `WITH arrived AS (
       SELECT id, link_id, occurred_at, ${leaseSql} AS lease, ${daySql} AS day FROM link_clicks
       WHERE workspace_id = {workspace:UInt32} AND occurred_at >= ${moment('from')} AND id > ${throughSql('told')}
       ORDER BY id LIMIT {rows:UInt64})
     SELECT lease, day, max(id) AS through, min(${eventMs}) AS firstAt, max(${eventMs}) AS lastAt FROM arrived
     WHERE id < (
       SELECT if(count() = 0, ${idMax}, min(first)) FROM (
         SELECT min(id) AS first FROM arrived GROUP BY link_id ORDER BY first LIMIT 1 OFFSET {links:UInt64}))
     GROUP BY lease, day`,
    { workspace: workspaceId, from, rows: rowsMax, links: linksMax, ...throughParams('told', told) },
  )
  return {
    marks: rows.map(({ lease, day, through }) => ({ lease, day, through })),
    firstAt: rows.reduce((first, row) => Math.min(first, row.firstAt), Number.POSITIVE_INFINITY),
    lastAt: rows.reduce((last, row) => Math.max(last, row.lastAt), 0),
  }
}

export interface ToldClicks {
  readonly link_id: number
  readonly list: 'all' | 'country' | 'device' | 'referrer'
  /** Empty for `all`, and for one that isn't known. */
  readonly name: string
  readonly clicks: number
  readonly firstAt: number
  readonly lastAt: number
}

/** People's clicks that have arrived since `told`, by link: all of them, and the names with most of each list. */
export function countArrived(
  ch: Reader,
  { workspaceId, from, told }: Untold,
  arrived: Arrived,
  namesMax: number,
): Promise<ToldClicks[]> {
  const reached = mergeMarks(told, arrived.marks)
  const isClick = "workspace_id = {workspace:UInt32} AND kind = 'click'"
  const isNear = `occurred_at >= ${moment('first')} AND occurred_at < ${moment('end')}`
  const isNew = `occurred_at >= ${moment('from')} AND id > ${throughSql('told')} AND id <= ${throughSql('reached')}`
  const { country, device, referrer } = listKeys
  return ch.query<ToldClicks>(
    `WITH seen AS (
       SELECT *, ${isNew} AS is_new FROM link_clicks
       WHERE ${isClick} AND ${isNear}
         AND (occurred_at < ${moment('from')} OR id <= ${throughSql('reached')})
         AND link_id IN (SELECT link_id FROM link_clicks WHERE ${isClick} AND ${isNear} AND ${isNew})),
     counted AS (SELECT * FROM seen ORDER BY is_new, occurred_at, id LIMIT 1 BY ${countedOnce})
     SELECT link_id, list, name, count() AS clicks, min(${eventMs}) AS firstAt, max(${eventMs}) AS lastAt
     FROM counted ARRAY JOIN ['all', 'country', 'device', 'referrer'] AS list, ['', ${[country, device, referrer].join()}] AS name
     WHERE is_new
     GROUP BY link_id, list, name ORDER BY link_id, list, clicks DESC, name LIMIT {names:UInt64} BY link_id, list`,
    {
      workspace: workspaceId,
      from,
      names: namesMax,
      first: Math.floor(arrived.firstAt / hourMs) * hourMs,
      end: (Math.floor(arrived.lastAt / hourMs) + 1) * hourMs,
      ...throughParams('told', told),
      ...throughParams('reached', reached),
    },
  )
}

/** The marks of both; of one lease and day the later one's. */
export function mergeMarks(before: readonly ArrivalMark[], after: readonly ArrivalMark[]): ArrivalMark[] {
  return [...new Map([...before, ...after].map((mark) => [keyOf(mark), mark])).values()]
}

const leaseSql = `intDiv(id, ${idsPerLease})`
const daySql = "toUInt16(toDate(occurred_at, 'UTC'))"
/** Days are numbers below it. */
const leaseFactor = 65_536
const idMax = 'toUInt64(18446744073709551615)'

function keyOf({ lease, day }: ArrivalMark): number {
  return lease * leaseFactor + day
}

/** SQL of the id up to which a row's lease and day are in the marks of this name; 0: they aren't. */
function throughSql(name: string): string {
  const key = `${leaseSql} * ${leaseFactor} + ${daySql}`
  return `transform(${key}, {${name}_keys:Array(UInt64)}, {${name}_ids:Array(UInt64)}, toUInt64(0))`
}

/** An empty list can't be looked into; no row has the key 0. */
function throughParams(name: string, marks: readonly ArrivalMark[]): Record<string, number[]> {
  return {
    [`${name}_keys`]: [0, ...marks.map(keyOf)],
    [`${name}_ids`]: [0, ...marks.map(({ through }) => through)],
  }
}
