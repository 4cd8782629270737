/**
 * Having the work on the aggregates to oneself. It saves double work and lets what is on no list be deleted; that nothing
 * is counted twice is the ledger's doing alone.
 */
import { randomUUID } from 'node:crypto'
import type { ClickHouse } from '../../clickhouse/client.ts'
import type { Postgres } from '../../postgres/client.ts'
import { claimAggregation, releaseAggregation } from '../../postgres/tables/aggregates.ts'
import { sleep } from '../../runtime/retry.ts'
import { aggregateClaimMs } from '../../schemas/limits.ts'
import type { Aggregating } from './run.ts'

export interface Claimant {
  /** False while another has the work. Else it is held until `release`. */
  claim(): Promise<boolean>
  release(): Promise<void>
  /** For work that is done while the claim is held: it ends where the claim was lost. */
  readonly work: Aggregating
}

export function makeClaimant(pg: Postgres, ch: ClickHouse, signal: AbortSignal): Claimant {
  const name = randomUUID()
  let timer: NodeJS.Timeout | undefined
  const prolong = () => claimAggregation(pg, name, aggregateClaimMs)
  return {
    claim: async () => {
      const isOurs = await prolong()
      // Short, so that others don't wait long for a process that has died; a statement may take longer.
      if (isOurs) timer ??= setInterval(() => void prolong().catch(() => {}), aggregateClaimMs / 4)
      return isOurs
    },
    release: async () => {
      clearInterval(timer)
      timer = undefined
      await releaseAggregation(pg, name)
    },
    work: {
      pg,
      ch,
      beforeEach: async () => {
        signal.throwIfAborted()
        if (!(await prolong())) throw new Error('another process has taken over the work on the aggregates')
      },
    },
  }
}

const retryMs = 100

/** Waits for the work, does a piece of it, and leaves it to others. */
export async function whileClaimed<T>(
  pg: Postgres,
  ch: ClickHouse,
  signal: AbortSignal,
  piece: (work: Aggregating) => Promise<T>,
): Promise<T> {
  const { claim, release, work } = makeClaimant(pg, ch, signal)
  while (!(await claim())) {
    signal.throwIfAborted()
    await sleep(retryMs, signal)
  }
  try {
    return await piece(work)
  } finally {
    await release()
  }
}
