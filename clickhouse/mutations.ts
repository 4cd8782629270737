/** Mutations that ClickHouse carries out in the background (`mutations_sync = 0`), so that several run at once. */
import { sleep } from '../runtime/retry.ts'
import type { ClickHouse } from './client.ts'

/** That wait at once: ClickHouse slows inserts down at 500. */
export const mutationsMax = 20
const pollMs = 100
const deadlineMs = 60 * 60_000

/**
 * Waits until no mutation of the table is left. They go on in the server, even if this process ends.
 * @param mayGoOn asked before each look; throws to end the wait
 */
export async function untilMutated(
  ch: Pick<ClickHouse, 'query'>,
  table: string,
  mayGoOn: () => void | Promise<void>,
): Promise<void> {
  for (const deadline = Date.now() + deadlineMs; ; await sleep(pollMs)) {
    await mayGoOn()
    const [unfinished] = await ch.query<{ count: number; reason: string }>(
      `SELECT count() AS count, max(latest_fail_reason) AS reason FROM system.mutations
       WHERE database = currentDatabase() AND table = {table:String} AND NOT is_done AND NOT is_killed`,
      { table },
    )
    if (unfinished!.count === 0) return
    if (Date.now() > deadline) throw new Error(`a deletion in ${table} doesn't end: ${unfinished!.reason}`)
  }
}
