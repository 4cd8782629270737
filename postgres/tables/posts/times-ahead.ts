/** Resets times that a fast clock set. Otherwise publishing would wait for them after the clock is right again. */
import { publishWaitMaxMs } from '../../../schemas/limits/publish-limits.ts'
import type { Queryable } from '../../client.ts'
import { intervalOf } from '../../clock.ts'
import { isTooFarAhead } from '../../leasing.ts'

/**
 * Sets such targets to be due one lease from now. A process that works on one renews its lease by then, so no other process
 * takes it. Releases the holds of their accounts.
 */
export async function resetTimesAhead(q: Queryable, leaseMs: number): Promise<void> {
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
