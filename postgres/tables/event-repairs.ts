/** Hours of workspaces whose events were changed behind the marks: a fold takes up their visitors again. */
import type { Queryable } from '../client.ts'

export interface HourKey {
  readonly workspaceId: number
  /** UTC, in hours since 1970. */
  readonly hour: number
}

/** To be called when the rows are as they stay, and before anybody is told so: a repair reads what is there. */
export async function recordRepairs(q: Queryable, keys: readonly HourKey[]): Promise<void> {
  await q.query(
    `INSERT INTO event_repairs (workspace_id, hour)
     SELECT * FROM unnest($1::int[], $2::bigint[])`,
    [keys.map(({ workspaceId }) => workspaceId), keys.map(({ hour }) => hour)],
  )
}
