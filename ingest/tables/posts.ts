/**
 * The workspaces of the newest posts. By them an event's `svc_post_id` counts only if the post is its own workspace's.
 *
 * It follows Postgres as replicated-table.ts says, by looking for newer posts every few seconds: nobody visits a post sooner. A
 * post's workspace never changes. An older post is looked up after the first event that names it, and evicts the least
 * recently used one. The copy on disk has one line per post.
 *
 * Held by test/unit/post-table.test.ts.
 */
import { LRUCache } from 'lru-cache'
import { postOverlap, postTableMax } from '../../schemas/limits/ingest-limits.ts'
import { type ReplicatedTableOptions, replicateTable } from './replicated-table.ts'
import { makeTableFile } from './table-file.ts'

export interface PostRow {
  readonly id: number
  readonly workspace_id: number
}

export interface PostTableOptions extends Omit<ReplicatedTableOptions, 'listen'> {
  /** Those with a greater id, the newest first. */
  readonly listPosts: (afterId: number, limit: number) => Promise<readonly PostRow[]>
  readonly findPost: (id: number) => Promise<PostRow | null>
  /** Most posts in memory. */
  readonly max?: number
}

export interface PostTable {
  /** Reads the table, from Postgres or else from disk, and keeps it fresh from then on. */
  start(): Promise<void>
  /** Undefined for a post that isn't in memory. */
  workspaceOf(id: number): number | undefined
  close(): Promise<void>
}

export function makePostTable(options: PostTableOptions): PostTable {
  const { file, log, keepsCopy = true, max = postTableMax } = options
  const workspaces = new LRUCache<number, number>({ max })
  const copy = makeTableFile({
    name: 'posts',
    file,
    isKept: keepsCopy,
    linesMax: max,
    log,
    // The least recently used first.
    all: () => Array.from(workspaces.rkeys(), (id) => lineOf({ id, workspace_id: workspaces.peek(id)! })),
  })
  let newest: number | null = null

  async function read(): Promise<void> {
    const isFirst = newest === null
    // A transaction that took its id earlier may have been committed later.
    const rows = await options.listPosts(Math.max(0, (newest ?? 0) - postOverlap), max)
    if (newest && rows.length === 0) {
      newest = null
      return read()
    }
    const top = rows[0]?.id ?? 0
    // A Postgres that was restored gives ids of lost posts to others.
    if (newest && top < newest) for (const id of [...workspaces.keys()]) if (id > top) workspaces.delete(id)
    const unknown = rows.toReversed().filter(({ id, workspace_id }) => isFirst || workspaces.peek(id) !== workspace_id)
    if (isFirst) workspaces.clear()
    for (const { id, workspace_id } of unknown) workspaces.set(id, workspace_id)
    newest = top
    await (isFirst ? copy.writeAll() : copy.add(unknown.map(lineOf)))
  }

  const table = replicateTable<number>(
    { ...options, listen: () => ({ close: async () => {} }) },
    {
      name: 'posts',
      size: () => workspaces.size,
      find: (id) => workspaces.get(Number(id)),
      isShaped: (id) => /^\d{1,10}$/.test(id),
      lookUp: async (id) => {
        const row = await options.findPost(Number(id))
        if (row !== null) workspaces.set(row.id, row.workspace_id)
        return row?.workspace_id ?? null
      },
      read,
      readCopy: async () => {
        for (const line of await copy.read()) {
          const [, id, workspaceId] = /^(\d+) (\d+)$/.exec(line) ?? []
          if (id !== undefined) workspaces.set(Number(id), Number(workspaceId))
        }
      },
    },
  )

  return {
    start: table.start,
    workspaceOf: (id) => {
      const workspaceId = workspaces.get(id)
      // While there is room for one more, all posts are in memory.
      if (workspaceId === undefined && workspaces.size >= max) void table.resolve(String(id))
      return workspaceId
    },
    close: table.close,
  }
}

function lineOf({ id, workspace_id }: PostRow): string {
  return `${id} ${workspace_id}\n`
}
