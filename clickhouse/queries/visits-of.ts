/** Who came by a link or a post, and the conversions that are credited to it. */
import { isTouch, moment } from '../rollups/event-sql.ts'
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

export async function readVisitsOf(ch: Reader, request: VisitsRequest): Promise<Visits> {
  const { workspaceId, build, column, id, readableFrom } = request
  const isOfIt = `${inWorkspace} AND ${column} = {id:UInt32}`
  const isReadable = `occurred_at >= ${moment('from')}`
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
