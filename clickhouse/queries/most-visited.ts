/** Pages with the most views and sources with the most visitors in the last days, for the company profile. */
import { profileVisitsMs } from '../../schemas/limits/profile-limits.ts'
import { moment } from '../rollups/event-sql.ts'
import { inWorkspace } from './overview/figure-parts.ts'
import type { Reader } from './reader.ts'

export interface MostVisited {
  /** Paths, by pageviews. */
  readonly pages: string[]
  /** By visitors; direct isn't among them. */
  readonly sources: string[]
}

const listed = 5

/** @param since milliseconds since 1970 */
export async function readMostVisited(ch: Reader, workspaceId: number, since: number): Promise<MostVisited> {
  const [row] = await ch.query<MostVisited>(
    `SELECT
       (SELECT groupArray(path) FROM (SELECT toString(path) AS path FROM events
          WHERE ${inWorkspace} AND occurred_at >= ${moment('since')} AND kind = 'pageview' GROUP BY path ORDER BY count() DESC, path LIMIT ${listed})) AS pages,
       (SELECT groupArray(source) FROM (SELECT toString(source) AS source FROM events
          WHERE ${inWorkspace} AND occurred_at >= ${moment('since')} AND source NOT IN ('', 'direct') GROUP BY source
          ORDER BY uniqExact(visitor) DESC, source LIMIT ${listed})) AS sources`,
    { workspace: workspaceId, since },
    { deadlineMs: profileVisitsMs },
  )
  return row!
}
