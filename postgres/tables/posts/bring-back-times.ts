/** Times that a clock set which ran ahead: publishing doesn't wait for them once the clock is right. */
import { publishWaitMaxMs } from '../../../schemas/limits/publish-limits.ts'
import type { Queryable } from '../../client.ts'
import { intervalOf } from '../../clock.ts'
import { isTooFarAhead } from '../../leasing.ts'

/**
 * Has such targets wait for a lease from now on: whoever works on one renews its lease by then, so that no other process has
 * it meanwhile. Their accounts are held no longer.
 */
export async function bringBackTimes(q: Queryable, leaseMs: number): Promise<void> {
  await q.query(
    `UPDATE post_targets SET next_attempt_at = now() + ${intervalOf('$1')}
     WHERE status = 'publishing' AND ${isTooFarAhead('next_attempt_at', 'now()', publishWaitMaxMs)}`,
    [leaseMs],
  )
  await q.query(
    `UPDATE social_accounts SET held_until = NULL WHERE ${isTooFarAhead('held_until', 'now()', publishWaitMaxMs)}
       AND id IN (SELECT social_account_id FROM post_targets WHERE status = 'publishing')`,
  )
}
