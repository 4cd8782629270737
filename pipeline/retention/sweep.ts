/** How sweeps go through Postgres: in bounded portions, and past a workspace whose portion fails. */
import type { Queryable } from '../../postgres/client.ts'
import type { ExpiredTable } from '../pipeline-metrics.ts'
import type { JobContext } from '../queue/job.ts'

/** A portion is bounded, but the rows that are deleted with its rows may be many times as many. */
const statementDeadlineMs = 60_000

/** The same Postgres, with a longer deadline for each statement. */
export function withSweepDeadline(pg: Queryable): Queryable {
  return { query: (sql, params) => pg.query(sql, params, { deadlineMs: statementDeadlineMs }) }
}

/**
 * Does `work` for each, though it fails for some.
 * @throws the first failure, after the last one; at once when the process stops or Postgres is away
 */
export async function forEach<Thing extends { readonly id: number }>(
  { pg, log, signal }: Pick<JobContext, 'pg' | 'log' | 'signal'>,
  kind: 'workspace' | 'erasure',
  things: readonly Thing[],
  work: (thing: Thing) => Promise<void>,
): Promise<void> {
  const failures: unknown[] = []
  for (const thing of things) {
    signal.throwIfAborted()
    try {
      await work(thing)
    } catch (error) {
      signal.throwIfAborted()
      if (!(await pg.ping())) throw error
      log.warn({ err: error, [kind]: thing.id }, `one ${kind} could not be swept; the others are`)
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

/** Calls `deletePortion`, which deletes `limit` rows at most, until it finds fewer. */
export async function deleteInPortions(
  { metrics, signal }: Pick<JobContext, 'metrics' | 'signal'>,
  table: ExpiredTable,
  limit: number,
  deletePortion: () => Promise<number>,
): Promise<void> {
  for (;;) {
    signal.throwIfAborted()
    const rows = await deletePortion()
    metrics.rowsExpired(table, rows)
    if (rows < limit) return
  }
}
