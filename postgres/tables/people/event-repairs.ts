/** Hours whose events were changed behind the marks. A fold recomputes their visitors, and the people loop their contacts. */
import type { Queryable } from '../../client.ts'
import { columnsOf } from '../../columns-of.ts'

export interface HourKey {
  readonly workspaceId: number
  /** UTC, in hours since 1970. */
  readonly hour: number
  /** Decimal text, '0' for server events: the others' events of the hour are as they were. */
  readonly visitor?: string
}

/** To be called when the rows are as they stay, and before anybody is told so: a repair reads what is there. */
export async function recordRepairs(q: Queryable, keys: readonly HourKey[]): Promise<void> {
  await q.query(
    `WITH changed AS (SELECT * FROM unnest($1::int[], $2::bigint[], $3::numeric[]) AS changed (workspace_id, hour, visitor)),
       noted AS (INSERT INTO people_work (workspace_id, hour) SELECT DISTINCT workspace_id, hour FROM changed)
     INSERT INTO event_repairs (workspace_id, hour, visitor) SELECT * FROM changed`,
    columnsOf(keys, 'workspaceId', 'hour', 'visitor'),
  )
}
