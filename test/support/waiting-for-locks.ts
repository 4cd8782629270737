/** Tests of two transactions at once: the second one is known to wait before the first one goes on. */
import type { Queryable } from '../../postgres/client.ts'
import { sleep } from '../../runtime/retry.ts'

/** How many connections to this database wait for a lock. */
export async function countWaiting(pg: Queryable): Promise<number> {
  const sql = `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`
  return (await pg.query(sql)).length
}

/** Until so many wait, or the work has ended: then it waits for nobody. */
export async function untilWaitingOrEnded(pg: Queryable, work: Promise<unknown>, count = 1): Promise<void> {
  let isEnded = false
  const end = () => {
    isEnded = true
  }
  work.then(end, end)
  while (!isEnded && (await countWaiting(pg)) < count) await sleep(10)
}
