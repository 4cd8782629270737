/**
 * The table of tracking keys: from a key to its workspace without a question to Postgres.
 *
 * It follows Postgres as replicated-table.ts says, and is read whole each time. A key that was revoked during an outage
 * of Postgres is gone after it, and a rotated one ends at its hour in any case.
 *
 * A key that isn't in the table is looked up by itself. "No such key" is believed for a moment only. While Postgres is
 * out of reach a key is `unavailable`, never `unknown`, so that nobody loses events.
 *
 * Held by test/unit/key-table.test.ts.
 */
import { readFile } from 'node:fs/promises'
import { writeFileDurably } from '../../runtime/files/durable-file.ts'
import type { Exclusions } from '../../schemas/exclusions.ts'
import { isTrackingKeyShaped } from '../../schemas/keys.ts'
import type { ExclusionMatcher, TrackedWorkspace } from '../event-context.ts'
import { makeExclusionMatcher } from '../exclusion-matcher.ts'
import { type ReplicatedTable, type ReplicatedTableOptions, replicateTable } from './replicated-table.ts'

/** A live key, as Postgres holds it. */
export interface KeyRow {
  readonly key: string
  readonly workspace_id: number
  readonly timezone: string
  /** Sessions of a hundred that are recorded. */
  readonly replay_share: number
  /** JSON of `Exclusions`; null where the workspace leaves nothing out. */
  readonly exclusions: string | null
  readonly retires_at: Date | null
}

export interface KeyTableOptions extends ReplicatedTableOptions {
  readonly listKeys: () => Promise<readonly KeyRow[]>
  readonly findKey: (key: string) => Promise<KeyRow | null>
}

/** `find` answers the workspaces of live keys only. */
export interface KeyTable extends ReplicatedTable<TrackedWorkspace> {
  /** The rules of a workspace with a live key; null where it leaves nothing out. */
  exclusionsOf(workspaceId: number): ExclusionMatcher | null
}

interface Rules {
  /** As Postgres has them. */
  readonly text: string
  readonly matcher: ExclusionMatcher
}

interface Entry {
  readonly workspace: TrackedWorkspace
  /** Infinity for a key that wasn't rotated. */
  readonly retiresAt: number
}

export function makeKeyTable(options: KeyTableOptions): KeyTable {
  const { file, keepsCopy = true, clock, log } = options
  let entries = new Map<string, Entry>()
  /** By workspace, where it has any. */
  let exclusions = new Map<number, Rules>()
  let written = ''

  function live(entry: Entry | undefined): TrackedWorkspace | undefined {
    if (entry === undefined) return undefined
    return entry.retiresAt === Number.POSITIVE_INFINITY || entry.retiresAt > clock.now() ? entry.workspace : undefined
  }

  function take(rows: readonly CopiedRow[]): void {
    const taken = rows.map((row) => ({ row, rules: rulesOf(row) }))
    exclusions = new Map(taken.flatMap(({ row, rules }) => (rules === null ? [] : [[row.workspace_id, rules]])))
    entries = new Map(taken.map(({ row, rules }) => [row.key, entryOf(row, rules)]))
  }

  /** Rules that stay as they were aren't read again. */
  function rulesOf({ workspace_id: id, exclusions: text }: CopiedRow): Rules | null {
    if (!text) return null
    const known = exclusions.get(id)
    return known?.text === text ? known : { text, matcher: makeExclusionMatcher(JSON.parse(text) as Exclusions) }
  }

  async function writeCopy(rows: readonly KeyRow[]): Promise<void> {
    const copy = JSON.stringify({ keys: rows })
    if (!keepsCopy || copy === written) return
    try {
      await writeFileDurably(file, copy)
      written = copy
    } catch (error) {
      log.error({ err: error }, 'the copy of the tracking keys could not be written')
    }
  }

  const table = replicateTable<TrackedWorkspace>(options, {
    name: 'tracking keys',
    size: () => entries.size,
    find: (key) => live(entries.get(key)),
    // A secret key in the wrong place isn't passed on, either.
    isShaped: isTrackingKeyShaped,
    lookUp: async (key) => {
      const row = await options.findKey(key)
      if (row === null) return null
      const rules = rulesOf(row)
      if (rules === null) exclusions.delete(row.workspace_id)
      else exclusions.set(row.workspace_id, rules)
      const entry = entryOf(row, rules)
      entries.set(key, entry)
      return entry.workspace
    },
    read: async () => {
      const rows = await options.listKeys()
      take(rows)
      await writeCopy(rows)
    },
    readCopy: async () => take((JSON.parse(await readFile(file, 'utf8')) as { keys: CopiedRow[] }).keys),
  })
  return { ...table, exclusionsOf: (workspaceId) => exclusions.get(workspaceId)?.matcher ?? null }
}

/** A row of Postgres, or of the copy, where the date is text. A copy that an older version has written says nothing of replay and exclusions. */
type CopiedRow = Omit<KeyRow, 'retires_at' | 'replay_share' | 'exclusions'> & {
  readonly retires_at: Date | string | null
  readonly replay_share?: number
  readonly exclusions?: string | null
}

function entryOf({ workspace_id, timezone, replay_share = 0, retires_at }: CopiedRow, rules: Rules | null): Entry {
  const exclusions = rules?.matcher ?? null
  return {
    workspace: { id: workspace_id, timezone, replayShare: replay_share, exclusions },
    retiresAt: retires_at === null ? Number.POSITIVE_INFINITY : new Date(retires_at).getTime(),
  }
}
