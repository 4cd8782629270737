/** Weekly posting times, and those that no post has taken. Held by test/integration/posting-times.test.ts. */
import type { WeeklyTime } from '../../../schemas/time/weekly-times.ts'
import type { Queryable } from '../../client.ts'

/** In the order of the week. */
export function listPostingTimes(q: Queryable, workspaceId: number): Promise<WeeklyTime[]> {
  return q.query<WeeklyTime>(
    'SELECT weekday, minute FROM posting_times WHERE workspace_id = $1 ORDER BY weekday, minute',
    [workspaceId],
  )
}

/** Replaces all of them; repeats count once. Whoever calls has locked the workspace: two calls at once would collide. */
export async function replacePostingTimes(
  tx: Queryable,
  workspaceId: number,
  times: readonly WeeklyTime[],
): Promise<void> {
  await tx.query('DELETE FROM posting_times WHERE workspace_id = $1', [workspaceId])
  await tx.query(
    `INSERT INTO posting_times (workspace_id, weekday, minute)
     SELECT DISTINCT $1::int, weekday, minute FROM unnest($2::smallint[], $3::smallint[]) AS given (weekday, minute)`,
    [workspaceId, times.map(({ weekday }) => weekday), times.map(({ minute }) => minute)],
  )
}

/** Those of `moments`, which are whole minutes, in whose minute no post of the workspace goes out; ascending. */
export async function freeAmong(q: Queryable, workspaceId: number, moments: readonly number[]): Promise<Date[]> {
  const rows = await q.query<{ at: Date }>(
    `SELECT at FROM unnest($2::timestamptz[]) AS asked (at)
     EXCEPT SELECT date_trunc('minute', scheduled_at) FROM posts
       WHERE workspace_id = $1 AND status IN ('scheduled', 'publishing')
     ORDER BY at`,
    [workspaceId, moments.map((moment) => new Date(moment))],
  )
  return rows.map(({ at }) => at)
}
