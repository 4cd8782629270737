/** Rows in Postgres of deleted workspaces, in tables without a foreign key to their workspace. */
import type { Postgres, Queryable } from '../../client.ts'

/** Facts, bindings and credits go with their contacts where they have one. */
export const tablesWithoutForeignKey = [
  'inbox',
  'contact_sightings',
  'contacts',
  'identity_facts',
  'bindings',
  'untold_merges',
  'person_credits',
  'people_work',
  'event_repairs',
  'erasures',
  'figure_builds',
] as const

export interface KnownWorkspaces {
  readonly ids: readonly number[]
  /** Those that somebody had deleted: they are gone even where no other workspace is known. */
  readonly deleted: readonly number[]
  /** The greatest number that was ever given. */
  readonly last: number
}

/** Waits for workspaces that are being made: a number is given before its row can be seen. */
export function readKnownWorkspaces(pg: Postgres): Promise<KnownWorkspaces> {
  return pg.transaction(async (tx) => {
    await tx.query('LOCK TABLE workspaces IN SHARE MODE')
    const [row] = await tx.query<KnownWorkspaces>(
      `SELECT (SELECT coalesce(json_agg(id ORDER BY id), '[]') FROM workspaces) AS ids,
         (SELECT coalesce(json_agg(workspace_id), '[]') FROM workspace_deletions WHERE done_at IS NOT NULL) AS deleted,
         coalesce(pg_sequence_last_value(pg_get_serial_sequence('workspaces', 'id')), 0) AS last`,
    )
    return row!
  })
}

export async function deleteRowsOfRemoved(q: Queryable, { ids, deleted, last }: KnownWorkspaces): Promise<void> {
  for (const table of tablesWithoutForeignKey) {
    await q.query(
      `DELETE FROM ${table} WHERE workspace_id IN (
         SELECT DISTINCT workspace_id FROM ${table} WHERE workspace_id = ANY ($3::int[])
           OR (cardinality($1::int[]) > 0 AND workspace_id <= $2 AND NOT workspace_id = ANY ($1::int[])))`,
      [ids, last, deleted],
      { deadlineMs: deleteDeadlineMs },
    )
  }
}

/** Rows of a large workspace. */
const deleteDeadlineMs = 10 * 60_000
