/** How sweeps go through Postgres: in bounded portions, and past a workspace whose portion fails. */
import type { Postgres, Queryable } from '../../postgres/client.ts'
import type { Log } from '../../runtime/log.ts'
import type { JobContext } from '../queue/job.ts'

/** A portion is bounded, but what is deleted with its rows may be many times as much. */
const statementDeadlineMs = 60_000

/** The same Postgres, patient with each statement. */
export function sweeping(pg: Postgres): Queryable {
  return { query: (sql, params) => pg.query(sql, params, { deadlineMs: statementDeadlineMs }) }
}

/**
 * Does `work` for every workspace, though it fails for some.
 * @throws the first failure, after the last workspace; at once when the process stops or Postgres is away
 */
export async function eachWorkspace(
  { pg, log, signal }: { readonly pg: Postgres; readonly log: Log; readonly signal: AbortSignal },
  workspaceIds: readonly number[],
  work: (workspaceId: number) => Promise<void>,
): Promise<void> {
  const failures: unknown[] = []
  for (const id of workspaceIds) {
    try {
      await work(id)
    } catch (error) {
      signal.throwIfAborted()
      if (!(await pg.ping())) throw error
      log.warn({ err: error, workspace: id }, 'a workspace could not be swept; the others are')
      failures.push(error)
    }
  }
  if (failures.length > 0) throw failures[0]
}

/** Calls `portion` with the place behind the one before, until it says that nothing is left. */
export async function walk<Place>(
  { signal }: Pick<JobContext, 'signal'>,
  begin: Place,
  portion: (after: Place) => Promise<Place | undefined>,
): Promise<void> {
  for (let place: Place | undefined = begin; place !== undefined; place = await portion(place)) signal.throwIfAborted()
}
