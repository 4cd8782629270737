/** Hours of workspaces whose raw rows were changed behind the marks: their aggregates are to be computed anew. */
import type { Queryable } from '../client.ts'

export interface HourKey {
  readonly workspaceId: number
  /** UTC, in hours since 1970. */
  readonly hour: number
}

/** To be called when the rows are as they stay, and before anybody is told so: a repair reads what is there. */
export async function recordRepairs(q: Queryable, keys: readonly HourKey[]): Promise<void> {
  await q.query(
    `INSERT INTO aggregate_repairs (workspace_id, hour)
     SELECT * FROM unnest($1::int[], $2::bigint[])`,
    [keys.map(({ workspaceId }) => workspaceId), keys.map(({ hour }) => hour)],
  )
}
