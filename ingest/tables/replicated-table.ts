/**
 * A table in memory that follows one of Postgres: read when Postgres notifies of a change and every few seconds besides.
 * It is kept on disk, so that an outage of Postgres, or a restart within one, takes nothing away. The copy is used only
 * until Postgres answers once.
 *
 * Held by test/unit/key-table.test.ts and test/unit/link-table.test.ts.
 */
import type { Clock } from '../../runtime/clock.ts'
import type { Log } from '../../runtime/log.ts'
import { keyPollMs } from '../../schemas/limits/ingest-limits.ts'
import { makeLookUps } from './look-ups.ts'

export interface ReplicatedTable<Found> {
  /** Reads the table, from Postgres or else from disk, and keeps it fresh from then on. */
  start(): Promise<void>
  find(key: string): Found | undefined
  /** For a key that `find` doesn't know. Never rejects. */
  resolve(key: string): Promise<Found | 'unknown' | 'unavailable'>
  close(): Promise<void>
}

export interface ReplicatedTableOptions {
  /** The copy on disk. */
  readonly file: string
  /** One thread of a node keeps the copy; the others only start from it. */
  readonly keepsCopy?: boolean
  readonly listen: (onNotify: () => void, onReconnect: () => void) => { close(): Promise<void> }
  readonly clock: Clock
  readonly log: Log
}

export interface TableContents<Found> {
  /** For the log. */
  readonly name: string
  readonly size: () => number
  readonly find: (key: string) => Found | undefined
  /** False for malformed keys: they skip the Postgres look-up. */
  readonly isShaped: (key: string) => boolean
  /** Asks Postgres for one key, and keeps the result. */
  readonly lookUp: (key: string) => Promise<Found | null>
  /** Reads the changes from Postgres. */
  readonly read: () => Promise<void>
  /** Rejects with ENOENT where there is none yet. */
  readonly readCopy: () => Promise<void>
}

export function replicateTable<Found>(
  options: ReplicatedTableOptions,
  contents: TableContents<Found>,
): ReplicatedTable<Found> {
  const { clock, log, listen } = options
  const { name, find, isShaped } = contents
  const lookUps = makeLookUps({ find: contents.lookUp, clock, log })
  const reader = makeReader(contents, log)
  let isClosed = false
  let listener: { close(): Promise<void> } | undefined
  let timer: NodeJS.Timeout | undefined

  async function readCopy(): Promise<void> {
    try {
      await contents.readCopy()
    } catch (error) {
      const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT'
      if (!isMissing) log.warn({ err: error }, `the copy of the ${name} could not be read`)
    }
  }

  function schedule(): void {
    timer = setTimeout(() => {
      reader.refresh().finally(() => {
        if (!isClosed) schedule()
      })
    }, keyPollMs)
    timer.unref()
  }

  function onChange(): void {
    lookUps.forget()
    void reader.refresh()
  }

  return {
    start: async () => {
      await readCopy()
      listener = listen(onChange, onChange)
      await reader.refresh()
      schedule()
    },

    find,

    resolve: (key) => {
      if (!isShaped(key)) return Promise.resolve('unknown')
      const known = find(key)
      return known === undefined ? lookUps.ask(key) : Promise.resolve(known)
    },

    close: async () => {
      isClosed = true
      clearTimeout(timer)
      await Promise.all([reader.end(), listener?.close()])
    },
  }
}

/** Reads one time after another, however often it is asked to: a change that comes meanwhile is read once more. */
function makeReader({ name, size, read }: Pick<TableContents<unknown>, 'name' | 'size' | 'read'>, log: Log) {
  let isReachable = true
  let isStale = false
  let isEnding = false
  let reading: Promise<void> | undefined

  async function readWhileStale(): Promise<void> {
    while (isStale && !isEnding) {
      isStale = false
      try {
        await read()
        if (!isReachable) log.info(`the ${name} are read from Postgres again`)
        isReachable = true
      } catch (error) {
        const known = size()
        if (isReachable) log.warn({ err: error, known }, `the ${name} could not be read: those known go on`)
        isReachable = false
      }
    }
  }

  return {
    /** Never rejects. */
    refresh(): Promise<void> {
      isStale = true
      reading ??= readWhileStale().finally(() => {
        reading = undefined
      })
      return reading
    },
    async end(): Promise<void> {
      isEnding = true
      await reading
    },
  }
}
