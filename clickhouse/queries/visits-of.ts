/** Who came by a link or a post, and the conversions that are credited to it. */
import { linkPagesMax } from '../../schemas/limits/link-target-limits.ts'
import { hostOfUrl, isTouch, moment } from '../rollups/event-sql.ts'
import { countedOnce } from './link-clicks.ts'
import { inBuild, inWorkspace } from './overview/figure-parts.ts'
import type { Reader } from './reader.ts'

export interface VisitsRequest {
  readonly workspaceId: number
  readonly build: number
  /** The column of events that names it. */
  readonly column: 'link_id' | 'post_id'
  readonly id: number
  /** Milliseconds since 1970 UTC. */
  readonly readableFrom: number
}

export interface Visits {
  /** People's clicks on short links: the same visitor counts once an hour for a link. */
  readonly clicks: number
  readonly visitors: number
  readonly sessions: number
  /** Those whose credited touch it led to. */
  readonly conversions: number
}

const isReadable = `occurred_at >= ${moment('from')}`
const isOf = (column: VisitsRequest['column']) => `${inWorkspace} AND ${column} = {id:UInt32}`

export async function readVisitsOf(ch: Reader, request: VisitsRequest): Promise<Visits> {
  const { workspaceId, build, column, id, readableFrom } = request
  const isOfIt = isOf(column)
  const [row] = await ch.query<Omit<Visits, 'visitors' | 'sessions'> & { came: [number, number] }>(
    `SELECT
       (SELECT uniqExact(${countedOnce}) FROM link_clicks WHERE ${isOfIt} AND kind = 'click' AND ${isReadable}) AS clicks,
       (SELECT (uniqExactIf(visitor, visitor != 0), uniqExactIf((visitor, session), visitor != 0)) FROM events WHERE ${isOfIt} AND ${isReadable}) AS came,
       (SELECT count() FROM credits FINAL WHERE ${inBuild} AND rule = 'touch' AND ${isReadable}
          AND (touched_by, touched_at) IN (SELECT visitor, occurred_at FROM events WHERE ${isOfIt} AND visitor != 0 AND ${isTouch})) AS conversions`,
    { workspace: workspaceId, build, id, from: readableFrom },
  )
  const { clicks, conversions, came } = row!
  return { clicks, visitors: came[0], sessions: came[1], conversions }
}

/** A page on which visitors arrived, and the conversions whose credited touch was there. */
export interface LandingPage extends Pick<Visits, 'visitors' | 'sessions' | 'conversions'> {
  readonly hostname: string
  readonly path: string
  /** Visitors with such a conversion. */
  readonly converting: number
}

/** @returns the pages with most visitors */
export async function readLandingPages(ch: Reader, request: VisitsRequest): Promise<LandingPage[]> {
  const { workspaceId, build, column, id, readableFrom } = request
  const landings = `FROM events WHERE ${isOf(column)} AND visitor != 0 AND path != ''`
  return ch.query<LandingPage>(
    `SELECT page.1 AS hostname, page.2 AS path, sum(came.1) AS visitors, sum(came.2) AS sessions, sum(converted.1) AS conversions, sum(converted.2) AS converting FROM (
       SELECT (${hostOfUrl('url')}, toString(path)) AS page, (uniqExact(visitor), uniqExact((visitor, session))) AS came, (0, 0) AS converted
       ${landings} AND ${isReadable} GROUP BY page
       UNION ALL
       SELECT page, (0, 0) AS came, (count(), uniqExact(touched_by)) AS converted
       FROM (SELECT touched_by, touched_at FROM credits FINAL WHERE ${inBuild} AND rule = 'touch' AND ${isReadable}) AS credited
       INNER JOIN (SELECT visitor, occurred_at, any((${hostOfUrl('url')}, toString(path))) AS page
         ${landings} AND ${isTouch} GROUP BY visitor, occurred_at) AS touches
       ON touched_by = visitor AND touched_at = touches.occurred_at GROUP BY page)
     GROUP BY page ORDER BY visitors DESC, hostname, path LIMIT ${linkPagesMax}`,
    { workspace: workspaceId, build, id, from: readableFrom },
  )
}
