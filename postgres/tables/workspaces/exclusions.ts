/** The rules by which a workspace leaves traffic out. Ingest reads them with the tracking keys. */
import type { Exclusions } from '../../../schemas/exclusions.ts'
import type { Queryable } from '../../client.ts'

const none: Exclusions = { addresses: [], countries: [], paths: [], hostnames: [] }

export async function readExclusions(q: Queryable, workspaceId: number): Promise<Exclusions> {
  const [row] = await q.query<Exclusions>(
    'SELECT addresses, countries, paths, hostnames FROM exclusions WHERE workspace_id = $1',
    [workspaceId],
  )
  return row ?? none
}

/** Replaces the rules. Whoever calls has locked the workspace. Without any entry there is no row: ingest has nothing to look at. */
export async function replaceExclusions(tx: Queryable, workspaceId: number, rules: Exclusions): Promise<void> {
  const { addresses, countries, paths, hostnames } = rules
  await tx.query('DELETE FROM exclusions WHERE workspace_id = $1', [workspaceId])
  if ([addresses, countries, paths, hostnames].every(({ length }) => length === 0)) return
  await tx.query(
    'INSERT INTO exclusions (workspace_id, addresses, countries, paths, hostnames) VALUES ($1, $2, $3, $4, $5)',
    [workspaceId, addresses, countries, paths, hostnames],
  )
}
