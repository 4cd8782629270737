/**
 * The table of short links: from a key to where it leads without a question to Postgres.
 *
 * The newest links are read at the start, and after that what has changed, when Postgres notifies and every few seconds
 * besides. A link that isn't in the table (older than those, or newer than the last read) is looked up by itself and kept
 * in place of the one that was longest unused. The table is kept on disk, a line a link, so that an outage of Postgres, or
 * a restart within one, stops no redirect; the copy is used only until Postgres answers once.
 *
 * Held by test/unit/link-table.test.ts.
 */
import { appendFile, readFile } from 'node:fs/promises'
import { LRUCache } from 'lru-cache'
import type { Clock } from '../runtime/clock.ts'
import { writeFileDurably } from '../runtime/durable-file.ts'
import type { Log } from '../runtime/log.ts'
import { isAttributionKeyShaped } from '../schemas/keys.ts'
import { keyPollMs, linkOverlapMs, linkTableMax } from '../schemas/limits.ts'
import { makeLookUps } from './look-ups.ts'

/** A link, as Postgres holds it. */
export interface LinkRow {
  readonly attribution_key: string
  readonly id: number
  readonly workspace_id: number
  readonly post_id: number | null
  readonly tracking_url: string
  readonly updated_at: Date
}

/** Where a key leads, and whose it is. */
export interface LinkTarget {
  readonly id: number
  readonly workspaceId: number
  readonly postId: number | null
  readonly url: string
}

export interface LinkTableOptions {
  /** The copy on disk. */
  readonly file: string
  /** Of a node's threads one keeps it; the others only begin with it. */
  readonly keepsCopy?: boolean
  /** The newest changes, newest first; since the beginning where no moment is given. */
  readonly listChanged: (since: Date | null, limit: number) => Promise<readonly LinkRow[]>
  readonly findLink: (key: string) => Promise<LinkRow | null>
  readonly listen: (onNotify: () => void, onReconnect: () => void) => { close(): Promise<void> }
  readonly clock: Clock
  readonly log: Log
  /** Links at hand. */
  readonly max?: number
}

export interface LinkTable {
  /** Reads the table, from Postgres or else from disk, and keeps it fresh from then on. */
  start(): Promise<void>
  find(key: string): LinkTarget | undefined
  /** For a key that `find` doesn't know. Never rejects. */
  resolve(key: string): Promise<LinkTarget | 'unknown' | 'unavailable'>
  close(): Promise<void>
}

type Line = readonly [key: string, id: number, workspaceId: number, postId: number | null, url: string]

export function makeLinkTable(options: LinkTableOptions): LinkTable {
  const { clock, log, file, max = linkTableMax, keepsCopy = true } = options
  const links = new LRUCache<string, LinkTarget>({ max })
  /** Of the newest change that was read; null before the first. */
  let readThrough: Date | null = null
  /** Keys of links that the copy lacks, be it that they were looked up. */
  const unsaved = new Set<string>()
  let linesAppended = 0
  let isReachable = true
  let isClosed = false
  let isStale = false
  let listener: { close(): Promise<void> } | undefined
  let timer: NodeJS.Timeout | undefined
  let reading: Promise<void> | undefined
  const lookUps = makeLookUps({
    find: async (key: string) => {
      const row = await options.findLink(key)
      return row === null ? null : take(row)
    },
    ...{ clock, log },
  })

  function take(row: LinkRow): LinkTarget {
    const target = targetOf(row)
    links.set(row.attribution_key, target)
    if (keepsCopy) unsaved.add(row.attribution_key)
    return target
  }

  /** Reads what has changed; a change that comes while reading is read after it. */
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
        if (readThrough === null) await readAll()
        else await readChanges(new Date(readThrough.getTime() - linkOverlapMs))
        if (!isReachable) log.info('the links are read from Postgres again')
        isReachable = true
      } catch (error) {
        if (isReachable) log.warn({ err: error, links: links.size }, 'the links could not be read: those known go on')
        isReachable = false
      }
    }
  }

  /** In place of whatever the copy said. */
  async function readAll(): Promise<void> {
    const rows = await options.listChanged(null, max)
    links.clear()
    // The newest last: it is the last to make room for another.
    for (const row of rows.toReversed()) take(row)
    readThrough = rows[0]?.updated_at ?? new Date(0)
    await writeCopy()
  }

  async function readChanges(since: Date): Promise<void> {
    const rows = await options.listChanged(since, max)
    for (const row of rows.toReversed()) if (links.peek(row.attribution_key)?.url !== row.tracking_url) take(row)
    readThrough = rows[0]?.updated_at ?? readThrough
    await addToCopy()
  }

  async function addToCopy(): Promise<void> {
    linesAppended += unsaved.size
    if (linesAppended > max) return writeCopy()
    if (unsaved.size === 0) return
    const lines = linesOf(unsaved)
    unsaved.clear()
    await copying(appendFile(file, lines))
  }

  async function writeCopy(): Promise<void> {
    linesAppended = 0
    unsaved.clear()
    // From the longest unused to the last used, as they are read again.
    if (keepsCopy) await copying(writeFileDurably(file, linesOf(links.rkeys())))
  }

  /** Of those that are still in the table. */
  function linesOf(keys: Iterable<string>): string {
    return Array.from(keys, (key) => {
      const target = links.peek(key)
      return target === undefined ? '' : lineOf(key, target)
    }).join('')
  }

  /** After a failure the next time writes all of it anew. */
  async function copying(written: Promise<void>): Promise<void> {
    await written.catch((error) => {
      linesAppended = max + 1
      log.error({ err: error }, 'the copy of the links could not be written')
    })
  }

  async function readCopy(): Promise<void> {
    try {
      for (const line of (await readFile(file, 'utf8')).split('\n')) {
        const parsed = parseLine(line)
        if (parsed !== undefined) links.set(...parsed)
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') {
        log.warn({ err: error }, 'the copy of the links could not be read')
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

    find: (key) => links.get(key),

    resolve: (key) => {
      if (!isAttributionKeyShaped(key)) return Promise.resolve('unknown')
      const known = links.get(key)
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

function targetOf({ id, workspace_id, post_id, tracking_url }: LinkRow): LinkTarget {
  return { id, workspaceId: workspace_id, postId: post_id, url: tracking_url }
}

function lineOf(key: string, { id, workspaceId, postId, url }: LinkTarget): string {
  const line: Line = [key, id, workspaceId, postId, url]
  return `${JSON.stringify(line)}\n`
}

/** Undefined for the last line of a copy whose writer was killed. */
function parseLine(text: string): [string, LinkTarget] | undefined {
  try {
    const [key, id, workspaceId, postId, url] = JSON.parse(text) as Line
    return [key, { id, workspaceId, postId, url }]
  } catch {
    return undefined
  }
}
