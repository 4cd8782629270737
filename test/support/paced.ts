/**
 * A publisher's pauses, at 25 times the speed. Each is written down as long as the publisher asked for it. Those in the
 * queue are shortened in Postgres, because its clock decides what is due.
 */
import type { Queryable } from '../../postgres/client.ts'
import { type Sleep, sleep } from '../../runtime/retry.ts'
import { publishEveryMs } from '../../schemas/limits/publish-limits.ts'

/** The milliseconds that such a pause takes in tests: for platforms whose limits pass with time. */
export const paced = (ms: number) => ms / pace
const pace = 25

/** None is shortened twice: the longest takes what the shortest is afterwards. Longer ones are the limits that tests read. */
const shortestMs = 800
const longestMs = shortestMs * pace

export interface Pauses {
  readonly sleep: Sleep
  /** In ms, in the order in which they were asked for. Those between two looks at the queue are left out. */
  readonly asked: number[]
}

export function makePauses(pg: Queryable): Pauses {
  const asked: number[] = []
  return {
    asked,
    async sleep(ms, signal) {
      // After this one the queue is looked at: more often than so costs more than it saves.
      if (ms === publishEveryMs) {
        await hastenRetries(pg).catch(() => {})
        return sleep(ms / 10, signal)
      }
      asked.push(ms)
      return sleep(paced(ms), signal)
    },
  }
}

/** Shortens the pauses of targets that wait for another attempt, and of accounts that wait for the end of a limit. */
async function hastenRetries(pg: Queryable): Promise<void> {
  const hasten = (table: string, at: string, condition: string) =>
    pg.query(
      `UPDATE ${table} SET ${at} = now() + (${at} - now()) / ${pace}
       WHERE ${at} > now() + $1 * interval '1 millisecond' AND ${at} <= now() + $2 * interval '1 millisecond'
         AND ${condition}`,
      [shortestMs, longestMs],
    )
  await hasten('social_accounts', 'held_until', 'true')
  await hasten('post_targets', 'next_attempt_at', `status = 'publishing' AND claimed_by IS NULL`)
}
