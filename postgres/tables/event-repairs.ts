/** Hours whose events were changed behind the marks. A fold recomputes their visitors, and the people loop their contacts. */
import type { Queryable } from '../client.ts'

export interface HourKey {
  readonly workspaceId: number
  /** UTC, in hours since 1970. */
  readonly hour: number
}

/** To be called when the rows are as they stay, and before anybody is told so: a repair reads what is there. */
export async function recordRepairs(q: Queryable, keys: readonly HourKey[]): Promise<void> {
  await q.query(
    `WITH changed AS (SELECT * FROM unnest($1::int[], $2::bigint[]) AS changed (workspace_id, hour)),
       noted AS (INSERT INTO people_work (workspace_id, hour) SELECT * FROM changed)
     INSERT INTO event_repairs (workspace_id, hour) SELECT * FROM changed`,
    [keys.map(({ workspaceId }) => workspaceId), keys.map(({ hour }) => hour)],
  )
}
