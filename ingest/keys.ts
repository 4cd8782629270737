/**
 * The table of tracking keys: from a key to its workspace without a question to Postgres.
 *
 * Read whole when Postgres notifies of a change and every few seconds besides; kept on disk after each change, so that
 * an outage of Postgres, or a restart within one, stops no event. The copy is used only until Postgres answers once: a
 * key that was revoked meanwhile is gone then, and a rotated one ends at its hour in any case.
 *
 * A key that isn't in the table is asked for by itself. "No such key" is believed for a moment only; Postgres out of
 * reach is `unavailable` and never `unknown`: nobody loses events for it.
 *
 * Held by test/unit/key-table.test.ts.
 */
import { readFile } from 'node:fs/promises'
import type { Clock } from '../runtime/clock.ts'
import { writeFileDurably } from '../runtime/durable-file.ts'
import type { Log } from '../runtime/log.ts'
import { isTrackingKeyShaped } from '../schemas/keys.ts'
import { keyPollMs } from '../schemas/limits.ts'
import { makeLookUps } from './look-ups.ts'
import type { IngestWorkspace } from './outcome.ts'

/** A live key, as Postgres holds it. */
export interface KeyRow {
  readonly key: string
  readonly workspace_id: number
  readonly timezone: string
  readonly retires_at: Date | null
}

export interface KeyTableOptions {
  /** The copy on disk. */
  readonly file: string
  /** Of a node's threads one keeps it; the others only begin with it. */
  readonly keepsCopy?: boolean
  readonly listKeys: () => Promise<readonly KeyRow[]>
  readonly findKey: (key: string) => Promise<KeyRow | null>
  readonly listen: (onNotify: () => void, onReconnect: () => void) => { close(): Promise<void> }
  readonly clock: Clock
  readonly log: Log
}

export interface KeyTable {
  /** Reads the table, from Postgres or else from disk, and keeps it fresh from then on. */
  start(): Promise<void>
  /** The workspace of a live key that is in the table. */
  find(key: string): IngestWorkspace | undefined
  /** For a key that `find` doesn't know. Never rejects. */
  resolve(key: string): Promise<IngestWorkspace | 'unknown' | 'unavailable'>
  close(): Promise<void>
}

interface Entry {
  readonly workspace: IngestWorkspace
  /** Infinity for a key that wasn't rotated. */
  readonly retiresAt: number
}

export function makeKeyTable(options: KeyTableOptions): KeyTable {
  const { clock, log } = options
  let entries = new Map<string, Entry>()
  let written = ''
  let isReachable = true
  let isClosed = false
  let listener: { close(): Promise<void> } | undefined
  let timer: NodeJS.Timeout | undefined
  let reading: Promise<void> | undefined
  let isStale = false
  const lookUps = makeLookUps({
    find: async (key: string) => {
      const row = await options.findKey(key)
      if (row === null) return null
      const entry = entryOf(row)
      entries.set(key, entry)
      return entry.workspace
    },
    ...{ clock, log },
  })

  function live(entry: Entry | undefined): IngestWorkspace | undefined {
    if (entry === undefined) return undefined
    return entry.retiresAt === Number.POSITIVE_INFINITY || entry.retiresAt > clock.now() ? entry.workspace : undefined
  }

  /** Reads the table anew; a change that comes while reading is read after it. */
  function refresh(): Promise<void> {
    isStale = true
    reading ??= readWhileStale().finally(() => {
      reading = undefined
    })
    return reading
  }

  async function readWhileStale(): Promise<void> {
    while (isStale && !isClosed) {
      isStale = false
      try {
        const rows = await options.listKeys()
        entries = new Map(rows.map((row) => [row.key, entryOf(row)]))
        if (!isReachable) log.info('the tracking keys are read from Postgres again')
        isReachable = true
        await keepCopy(rows)
      } catch (error) {
        if (isReachable)
          log.warn({ err: error, keys: entries.size }, 'the tracking keys could not be read: those known go on')
        isReachable = false
      }
    }
  }

  async function keepCopy(rows: readonly KeyRow[]): Promise<void> {
    if (options.keepsCopy === false) return
    const copy = JSON.stringify({ keys: rows })
    if (copy === written) return
    try {
      await writeFileDurably(options.file, copy)
      written = copy
    } catch (error) {
      log.error({ err: error }, 'the copy of the tracking keys could not be written')
    }
  }

  async function readCopy(): Promise<void> {
    try {
      const { keys } = JSON.parse(await readFile(options.file, 'utf8')) as {
        keys: (KeyRow & { retires_at: string | null })[]
      }
      entries = new Map(keys.map((row) => [row.key, entryOf(row)]))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') {
        log.warn({ err: error }, 'the copy of the tracking keys could not be read')
      }
    }
  }

  function schedule(): void {
    timer = setTimeout(() => {
      refresh().finally(() => {
        if (!isClosed) schedule()
      })
    }, keyPollMs)
    timer.unref()
  }

  function onChange(): void {
    lookUps.forget()
    void refresh()
  }

  return {
    start: async () => {
      await readCopy()
      listener = options.listen(onChange, onChange)
      await refresh()
      schedule()
    },

    find: (key) => live(entries.get(key)),

    resolve: (key) => {
      // What can't be a key needs no question, and a secret key in the wrong place isn't passed on.
      if (!isTrackingKeyShaped(key)) return Promise.resolve('unknown')
      const known = live(entries.get(key))
      return known === undefined ? lookUps.ask(key) : Promise.resolve(known)
    },

    close: async () => {
      isClosed = true
      clearTimeout(timer)
      await listener?.close()
      await reading
    },
  }
}

/** A row of Postgres, or of the copy, where the date is text. */
function entryOf(row: { workspace_id: number; timezone: string; retires_at: Date | string | null }): Entry {
  return {
    workspace: { id: row.workspace_id, timezone: row.timezone },
    retiresAt: row.retires_at === null ? Number.POSITIVE_INFINITY : new Date(row.retires_at).getTime(),
  }
}
