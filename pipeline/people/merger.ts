/** Applies the inbox beside the fold: who is identified is a contact at once, however long a fold takes. */
import { isStatementTimeout, type Postgres } from '../../postgres/client.ts'
import { retryAsked, setJobAside } from '../../postgres/tables/operation/set-aside-jobs.ts'
import { markMerged, mergeAgain, oldestUnmerged } from '../../postgres/tables/people/inbox.ts'
import type { IdentityHashes } from '../../runtime/crypto/identity-hash.ts'
import {
  inboxRowsPerMerge,
  mergeEveryMs,
  mergeRetriesEveryMs,
  mergeTriesOfRow,
} from '../../schemas/limits/people-limits.ts'
import { type JobLoop, type JobLoopContext, startJobLoop } from '../job-loop.ts'
import { holdMerging, mergeInbox } from './merge.ts'

export interface MergerContext extends JobLoopContext {
  readonly pg: Postgres
  readonly hashes: IdentityHashes
}

export function startMerger(context: MergerContext): JobLoop {
  const whenFailing = 'who is identified can not be merged now'
  return startJobLoop(context, { name: 'merge', whenFailing, pauseMs: mergeEveryMs }, makeMerges(context))
}

export const mergeJob = 'merge-inbox-row'

/**
 * A merge that fails is followed by one of half of the rows: else a few that cost too much would hold up everybody's. A row
 * that passes the deadline alone is set aside.
 * @param rowsMost rows of one merge, while all goes well
 * @returns makes the next one, and says whether more waits
 */
export function makeMerges(
  { pg, hashes, clock, log }: Omit<MergerContext, 'metrics'>,
  rowsMost: number = inboxRowsPerMerge,
): () => Promise<boolean> {
  let rowsMax = rowsMost
  let failed = { eventId: 0, tries: 0 }
  let retriesAt = Number.NEGATIVE_INFINITY

  async function noteFailure(eventId: number | undefined, error: unknown): Promise<void> {
    if (eventId === undefined || !isStatementTimeout(error)) return
    failed = { eventId, tries: failed.eventId === eventId ? failed.tries + 1 : 1 }
    if (failed.tries < mergeTriesOfRow) return
    log.error(
      { err: error, event: eventId },
      'who is identified by an event can not be merged in time: it was set aside',
    )
    await pg.transaction(async (tx) => {
      await holdMerging(tx)
      await markMerged(tx, [eventId])
      await setJobAside(tx, mergeJob, `event_${eventId}`, String(error))
    })
  }

  return async () => {
    if (performance.now() - retriesAt > mergeRetriesEveryMs) {
      retriesAt = performance.now()
      await retryAsked(pg, mergeJob, mergeAgain)
    }
    const alone = rowsMax === 1 ? await oldestUnmerged(pg) : undefined
    try {
      const rows = await mergeInbox({ pg, hashes, log, now: clock.now(), rowsMax })
      const isMore = rows === rowsMax
      // Slowly: each merge that fails costs a statement's deadline.
      rowsMax = Math.min(rowsMost, rowsMax + Math.ceil(rowsMax / 10))
      return isMore
    } catch (error) {
      rowsMax = Math.ceil(rowsMax / 2)
      await noteFailure(alone, error)
      throw error
    }
  }
}
