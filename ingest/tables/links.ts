/**
 * Cache of short links: resolves a place (a key, and the domain that it stands under) to its destination without a query
 * to Postgres.
 *
 * It follows Postgres as replicated-table.ts describes: the newest links are read at start, later only changes. A missing
 * link (older than those, or newer than the last read) is looked up on its own and evicts the least recently used one. The
 * copy on disk has one line per link.
 *
 * Held by test/unit/link-table.test.ts.
 */
import { isDeepStrictEqual } from 'node:util'
import { LRUCache } from 'lru-cache'
import { linkOverlapMs, linkTableBytesMax, linkTableMax } from '../../schemas/limits/ingest-limits.ts'
import { isLinkKeyShaped } from '../../schemas/link-key.ts'
import { isFromAhead } from '../../schemas/time/clock-ahead.ts'
import {
  type LinkRow,
  type LinkTarget,
  linkBytesMax,
  type ShownPreview,
  sizeOf,
  targetOf,
  type VisitorTarget,
} from './link-target.ts'
import { makeLookUps } from './look-ups.ts'
import { type ReplicatedTable, type ReplicatedTableOptions, replicateTable } from './replicated-table.ts'
import { makeTableFile } from './table-file.ts'

export interface LinkTableOptions extends ReplicatedTableOptions {
  /** The newest changes, newest first; since the beginning where no moment is given. */
  readonly listChanged: (since: Date | null, limit: number) => Promise<readonly LinkRow[]>
  /** Workspaces whose links are gone. */
  readonly listDeletedWorkspaces: () => Promise<readonly number[]>
  readonly findLink: (key: string, domainId: number | null) => Promise<LinkRow | null>
  readonly findLinkOfId: (id: number) => Promise<LinkRow | null>
  /** Most links in memory. */
  readonly max?: number
  /** Bound on the characters of all destinations together. */
  readonly bytesMax?: number
}

/** Links are found by `linkPlace`. */
export interface LinkTable extends ReplicatedTable<LinkTarget> {
  /** Undefined for a link that isn't in memory. If Postgres may have it, it is looked up in the background for the next call. */
  ofId(id: number): LinkTarget | undefined
}

type Line = readonly [
  place: string,
  id: number,
  workspaceId: number,
  postId: number | null,
  url: string,
  expiresAt: number | null,
  expiredUrl: string | null,
  targets: readonly VisitorTarget[],
  passwordHash: string | null,
  preview: ShownPreview | null,
]

export function makeLinkTable(options: LinkTableOptions): LinkTable {
  const { clock, log, file, max = linkTableMax, bytesMax = linkTableBytesMax, keepsCopy = true } = options
  const placeOfId = new Map<number, string>()
  const links = new LRUCache<string, LinkTarget>({
    max,
    maxSize: bytesMax,
    sizeCalculation: sizeOf,
    onInsert: ({ id }, place) => placeOfId.set(id, place),
    dispose: ({ id }, place) => {
      if (placeOfId.get(id) === place) placeOfId.delete(id)
    },
  })
  /** Time of the newest change that was read; null before the first. */
  let readThrough: Date | null = null
  /** Places of links that the copy on disk lacks, those that were looked up too. */
  const unsaved = new Set<string>()
  const copy = makeTableFile({
    name: 'links',
    file,
    isKept: keepsCopy,
    linesMax: max,
    bytesMax,
    log,
    // The least recently used first.
    all: () => linesOf(links.rkeys()),
  })

  function take(row: LinkRow): LinkTarget {
    const target = targetOf(row)
    const place = placeOf(row)
    links.set(place, target)
    if (keepsCopy) unsaved.add(place)
    return target
  }

  /** A clock that ran ahead dates changes that would hide all later ones. */
  const isAhead = (time: Date) => isFromAhead(time.getTime(), clock.now())
  const newestOf = (rows: readonly LinkRow[]) => rows.find(({ updated_at }) => !isAhead(updated_at))?.updated_at

  /** Reads all links anew, in place of the copy's. */
  async function readAll(): Promise<void> {
    const rows = await options.listChanged(null, max)
    const deleted = new Set(await options.listDeletedWorkspaces())
    links.clear()
    // The newest last: it is the last to make room for another.
    for (const row of rows.toReversed()) if (!deleted.has(row.workspace_id)) take(row)
    readThrough = newestOf(rows) ?? new Date(0)
    unsaved.clear()
    await copy.writeAll()
  }

  function isNews(row: LinkRow): boolean {
    return !isDeepStrictEqual(links.peek(placeOf(row)), targetOf(row))
  }

  async function readChanges(through: Date): Promise<void> {
    if (isAhead(through)) return readAll()
    const rows = await options.listChanged(new Date(through.getTime() - linkOverlapMs), max)
    // The newest change is gone, as after a restore of Postgres: it gives ids of lost links to others.
    if ((newestOf(rows)?.getTime() ?? 0) < through.getTime()) return readAll()
    const deleted = new Set(await options.listDeletedWorkspaces())
    for (const row of rows.toReversed()) if (!deleted.has(row.workspace_id) && isNews(row)) take(row)
    const gone = deleted.size === 0 ? [] : [...links.entries()].filter(([, link]) => deleted.has(link.workspaceId))
    for (const [place] of gone) links.delete(place)
    readThrough = newestOf(rows) ?? readThrough
    const lines = linesOf(unsaved)
    unsaved.clear()
    // The copy has a line for each present link: after a deletion it is written anew.
    await (gone.length > 0 ? copy.writeAll() : copy.add(lines))
  }

  /** Lines of the places that are still in the table. */
  function linesOf(places: Iterable<string>): string[] {
    return [...places].flatMap((place) => {
      const target = links.peek(place)
      return target === undefined ? [] : [lineOf(place, target)]
    })
  }

  const table = replicateTable(options, {
    name: 'links',
    size: () => links.size,
    find: (place) => links.get(place),
    isShaped: (place) => isLinkKeyShaped(readPlace(place).key),
    lookUp: async (place) => {
      const { key, domainId } = readPlace(place)
      const row = await options.findLink(key, domainId)
      return row === null ? null : take(row)
    },
    read: () => (readThrough === null ? readAll() : readChanges(readThrough)),
    readCopy: async () => {
      for (const line of await copy.read()) {
        const parsed = parseLine(line)
        if (parsed !== undefined) links.set(...parsed)
      }
    },
  })
  const olderLinks = makeLookUps({
    find: async (id: string) => {
      const row = await options.findLinkOfId(Number(id))
      return row === null ? null : take(row)
    },
    clock,
    log,
  })

  return {
    ...table,
    ofId: (id) => {
      const place = placeOfId.get(id)
      if (place !== undefined) return links.get(place)
      // While there is room for one more, all links are in memory.
      if (links.size >= max || links.calculatedSize > bytesMax - linkBytesMax) void olderLinks.ask(String(id))
      return undefined
    },
  }
}

/** A link is found by its key, behind the id of its domain where it has one. No key has a slash. */
export function linkPlace(key: string, domainId: number | null): string {
  return domainId === null ? key : `${domainId}/${key}`
}

const placeOf = (row: LinkRow) => linkPlace(row.attribution_key, row.domain_id)

function readPlace(place: string): { readonly key: string; readonly domainId: number | null } {
  const slash = place.indexOf('/')
  return { key: place.slice(slash + 1), domainId: slash < 0 ? null : Number(place.slice(0, slash)) }
}

function lineOf(place: string, link: LinkTarget): string {
  const { id, workspaceId, postId, url, expiresAt, expiredUrl, targets, passwordHash, preview } = link
  const line: Line = [place, id, workspaceId, postId, url, expiresAt, expiredUrl, targets, passwordHash, preview]
  return `${JSON.stringify(line)}\n`
}

/** Undefined for a line that can't be read. */
function parseLine(text: string): [string, LinkTarget] | undefined {
  try {
    const [place, id, workspaceId, postId, url, ...more] = JSON.parse(text) as Line
    const [expiresAt, expiredUrl, targets, passwordHash = null, preview = null] = more
    return [place, { id, workspaceId, postId, url, expiresAt, expiredUrl, targets, passwordHash, preview }]
  } catch {
    return undefined
  }
}
