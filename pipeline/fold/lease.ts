/** The lease to fold. It saves double work; that nothing is written wrong is the versions' doing alone. */
import { randomUUID } from 'node:crypto'
import type { ClickHouse } from '../../clickhouse/client.ts'
import type { Postgres } from '../../postgres/client.ts'
import { leaseFold, releaseFold } from '../../postgres/tables/figures/folds.ts'
import { sleep } from '../../runtime/retry.ts'
import { foldLeaseMs } from '../../schemas/limits/figure-limits.ts'
import type { LeasedStores } from './fold.ts'

export interface FoldLease {
  /** False while another has the lease. Else it is held until `release`. */
  take(): Promise<boolean>
  release(): Promise<void>
  /** Its `ensureLease` throws once the lease is lost. */
  readonly work: LeasedStores
}

export function makeFoldLease(pg: Postgres, ch: ClickHouse, signal: AbortSignal): FoldLease {
  const name = randomUUID()
  let timer: NodeJS.Timeout | undefined
  let prolonged: Promise<unknown> = Promise.resolve()
  let isProlonging = false
  const prolong = () => leaseFold(pg, name, foldLeaseMs)
  const prolongBeside = () => {
    // One at a time: `release` waits for it.
    if (isProlonging) return
    isProlonging = true
    prolonged = prolong()
      .catch(() => {})
      .finally(() => {
        isProlonging = false
      })
  }
  return {
    take: async () => {
      const isOurs = await prolong()
      // Short, so that others don't wait long for a process that has died; a statement may take longer.
      if (isOurs) timer ??= setInterval(prolongBeside, foldLeaseMs / 4)
      return isOurs
    },
    release: async () => {
      clearInterval(timer)
      timer = undefined
      // Else it could take the lease again after the release.
      await prolonged
      await releaseFold(pg, name)
    },
    work: {
      pg,
      ch,
      ensureLease: async () => {
        signal.throwIfAborted()
        if (!(await prolong())) throw new Error('another process has taken over the fold')
      },
    },
  }
}

const retryMs = 100

/** Waits for the lease, does a piece of work, and releases the lease. */
export async function whileLeased<T>(
  pg: Postgres,
  ch: ClickHouse,
  signal: AbortSignal,
  piece: (work: LeasedStores) => Promise<T>,
): Promise<T> {
  const { take, release, work } = makeFoldLease(pg, ch, signal)
  while (!(await take())) {
    signal.throwIfAborted()
    await sleep(retryMs, signal)
  }
  try {
    return await piece(work)
  } finally {
    await release()
  }
}
