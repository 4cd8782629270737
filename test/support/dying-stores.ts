/** Stores in the hands of a process that is killed between two of its calls: the calls after that are never made. */
import type { Queryable } from '../../postgres/client.ts'
import { StoreUnavailable } from '../../runtime/store-error.ts'
import type { AggregatedStores } from './aggregates.ts'

export interface DyingStores extends AggregatedStores {
  readonly isDead: boolean
  /** Numbers of attempts that were taken through these stores. */
  readonly attempts: readonly number[]
}

/**
 * Dies as soon as `callsMax` calls are made: the last one is done, and nobody hears its answer. Statements of a transaction
 * are calls, and so is its commit; a transaction that is cut before it is rolled back.
 */
export function makeDyingStores(stores: AggregatedStores, callsMax: number): DyingStores {
  return makeDying(stores, callsMax)
}

/** Dies before the statement that makes what an aggregator has written count. */
export function makeStoresDyingAtCommit(stores: AggregatedStores): DyingStores {
  return makeDying(stores, Number.POSITIVE_INFINITY, 'UPDATE aggregate_revision SET revision')
}

function makeDying({ pg, ch }: AggregatedStores, callsMax: number, deadly?: string): DyingStores {
  let calls = 0
  const attempts: number[] = []
  const failIfDead = () => {
    if (calls >= callsMax) throw new StoreUnavailable('postgres', 'killed')
  }
  const make = async <T>(call: () => Promise<T>): Promise<T> => {
    failIfDead()
    const answer = await call()
    calls++
    failIfDead()
    return answer
  }
  const ask = (q: Queryable): Queryable['query'] => {
    return (sql, params, options) =>
      make(async () => {
        if (deadly !== undefined && sql.includes(deadly)) {
          calls = callsMax
          failIfDead()
        }
        const rows = await q.query<Record<string, unknown>>(sql, params, options)
        if (sql.includes("nextval('aggregate_attempts')")) attempts.push(Number(rows[0]!['attempt']))
        return rows as never
      })
  }
  return {
    get isDead() {
      return calls >= callsMax
    },
    attempts,
    pg: {
      ...pg,
      query: ask(pg),
      transaction: async (work) => {
        failIfDead()
        const result = await pg.transaction((tx) => work({ query: ask(tx) }))
        calls++
        failIfDead()
        return result
      },
    },
    ch: {
      ...ch,
      query: (sql, params, options) => make(() => ch.query(sql, params, options)),
      command: (sql, params, options) => make(() => ch.command(sql, params, options)),
    },
  }
}
