/** The inserts that are under way, by query id: from the request's arrival until its rows are stored or refused. */
import { EngineError } from './engine-error.ts'
import type { KilledInserts, Query } from './request.ts'

/** How long a running insert may take to end by itself once it is to be killed. Its threads have a lower priority than all others. */
const endWaitMs = 30_000

interface Running {
  readonly database: string
  isWanted: boolean
  ended: Promise<unknown>
}

export interface InFlight {
  /** Runs `work` under the query's id. It asks `isWanted` just before the point of no return. */
  track<T>(query: Pick<Query, 'queryId' | 'database'>, work: (isWanted: () => boolean) => Promise<T>): Promise<T>
  /** Resolves when none of these is under way any more. */
  end(killed: KilledInserts): Promise<void>
}

/** `endProcess` is the last means against an insert that doesn't end. */
export function makeInFlight(endProcess: () => void): InFlight {
  const running = new Map<string, Running>()
  return {
    track: ({ queryId, database }, work) => {
      if (queryId === '') return work(() => true)
      if (running.has(queryId)) {
        throw new EngineError(
          216,
          `Query with id = ${queryId} is already running`,
          'QUERY_WITH_SAME_ID_IS_ALREADY_RUNNING',
        )
      }
      const entry: Running = { database, isWanted: true, ended: Promise.resolve() }
      const result = work(() => entry.isWanted)
      entry.ended = result.catch(() => {}).finally(() => running.delete(queryId))
      running.set(queryId, entry)
      return result
    },
    end: async ({ queryId, ofDatabase }) => {
      const ended = [...running]
        .filter(([id, { database }]) =>
          ofDatabase === undefined ? id === queryId : id.startsWith(queryId) && database === ofDatabase,
        )
        .map(([, entry]) => {
          entry.isWanted = false
          return entry.ended
        })
      if (ended.length === 0) return
      const timer = setTimeout(endProcess, endWaitMs)
      await Promise.all(ended)
      clearTimeout(timer)
    },
  }
}
