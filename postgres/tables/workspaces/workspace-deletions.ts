/**
 * Deletion of a workspace: its request ends every access in one transaction, and the rows go after it, in portions. Each step
 * may be repeated. Held by test/integration/workspace-delete.test.ts.
 */
import { sleep } from '../../../runtime/retry.ts'
import { isLockTimeout, type Postgres, type Queryable } from '../../client.ts'
import { intervalOf } from '../../clock.ts'
import { deleteUnusedAccounts, moveSessionsOut } from '../members/members.ts'
import { tablesWithoutForeignKey } from './removed-workspaces.ts'

export interface Deletion {
  readonly requestedAt: Date
  /** Null while there are rows. */
  readonly doneAt: Date | null
}

export async function readDeletion(q: Queryable, workspaceId: number): Promise<Deletion | null> {
  const [row] = await q.query<Deletion>(
    'SELECT requested_at AS "requestedAt", done_at AS "doneAt" FROM workspace_deletions WHERE workspace_id = $1',
    [workspaceId],
  )
  return row ?? null
}

/** Below the second after which Postgres ends one of two that wait for each other. */
const rowWithin = "'200ms'"
const letPassMs = 50
const letPassMax = 20

/**
 * From its commit on nobody gets in, nothing is published, told or taken, and no short link leads anywhere.
 * @returns false where somebody has asked for it before
 */
export async function requestDeletion(tx: Queryable, workspaceId: number): Promise<boolean> {
  await tx.query('SAVEPOINT deletion')
  for (let passed = 0; ; passed++) {
    try {
      return await endWorkspace(tx, workspaceId, passed < letPassMax ? rowWithin : 'DEFAULT')
    } catch (error) {
      if (!isLockTimeout(error)) throw error
      // Who has the row may be waiting for the workspace, as every row that refers to it does: it comes first.
      await tx.query('ROLLBACK TO SAVEPOINT deletion')
      await sleep(letPassMs)
    }
  }
}

async function endWorkspace(tx: Queryable, workspaceId: number, within: string): Promise<boolean> {
  // Waits for the changes that are under way, as they refer to the workspace: their rows are ended as well.
  await tx.query('SELECT 1 FROM workspaces WHERE id = $1 FOR UPDATE', [workspaceId])
  const requested = await tx.query(
    'INSERT INTO workspace_deletions (workspace_id) VALUES ($1) ON CONFLICT DO NOTHING RETURNING 1',
    [workspaceId],
  )
  if (requested.length === 0) return false
  await tx.query(`SET LOCAL lock_timeout TO ${within}`)
  await tx.query(
    'UPDATE workspaces SET suspended_at = coalesce(suspended_at, now()), updated_at = now() WHERE id = $1',
    [workspaceId],
  )
  // The owner's account stays as long as the workspace's row. Locking it here could wait for whoever has locked it to make a workspace.
  const members = await tx.query<{ id: number }>(
    `SELECT owner_id AS id FROM members WHERE workspace_id = $1 AND role <> 'owner'`,
    [workspaceId],
  )
  await moveSessionsOut(tx, workspaceId)
  for (const [table, condition = ofWorkspace] of accessTables) {
    await tx.query(`DELETE FROM ${table} WHERE ${condition}`, [workspaceId])
  }
  await deleteUnusedAccounts(
    tx,
    members.map(({ id }) => id),
  )
  for (const [table, change] of endings) await tx.query(`UPDATE ${table} SET ${change}`, [workspaceId])
  await tx.query('SET LOCAL lock_timeout TO DEFAULT')
  return true
}

/** A table, and the condition of a workspace's rows where they don't name it. */
type Part = readonly [table: string, condition?: string]
const ofWorkspace = 'workspace_id = $1'
const ofAccounts: Part = [
  'social_account_credentials',
  'social_account_id IN (SELECT id FROM social_accounts WHERE workspace_id = $1)',
]
const ofPosts = 'post_id IN (SELECT id FROM posts WHERE workspace_id = $1)'

const accessTables: readonly Part[] = [
  ['tracking_keys'],
  ['api_keys'],
  ['sign_in_links'],
  ['account_sign_ins'],
  ['browser_sessions'],
  ['members'],
  ['invitations'],
  ['report_recipients'],
  ['chat_channels'],
  ['search_sites'],
  ofAccounts,
]

/** Ends everything that acts by itself, but for links: there may be very many, and ingest asks whose are gone. */
const endings: readonly (readonly [table: string, change: string])[] = [
  [
    'post_targets',
    `status = 'draft', claimed_by = NULL, next_attempt_at = NULL WHERE status IN ('scheduled', 'publishing') AND ${ofPosts}`,
  ],
  ['posts', `status = 'draft' WHERE status IN ('scheduled', 'publishing') AND ${ofWorkspace}`],
  ['webhook_endpoints', `deleted_at = coalesce(deleted_at, now()), status = 'disabled' WHERE ${ofWorkspace}`],
  ['revenue_connections', `disconnected_at = coalesce(disconnected_at, now()) WHERE ${ofWorkspace}`],
  ['feeds', `status = 'paused' WHERE status = 'active' AND ${ofWorkspace}`],
  ['short_domains', `removed_at = coalesce(removed_at, now()), verified_at = NULL WHERE ${ofWorkspace}`],
  ['company_profiles', `status = 'failed' WHERE status = 'generating' AND ${ofWorkspace}`],
]

/** Referring tables stand before the tables that they refer to. */
const tables: readonly Part[] = [
  ...accessTables,
  ['webhook_deliveries'],
  ['webhook_endpoints'],
  ['outbox'],
  ['idempotency_records'],
  ['company_profile_media'],
  ['company_profiles'],
  ['links'],
  ['short_domains'],
  ['posting_times'],
  ['exclusions'],
  ['goals'],
  ['notes'],
  ['segments'],
  ['saved_funnels'],
  ['snippets'],
  ['traffic_alerts'],
  ['told_clicks'],
  ['invitation_mails'],
  ['post_media', ofPosts],
  ['post_targets', ofPosts],
  ['posts'],
  ['media'],
  ['social_accounts'],
  ['feed_entries', 'feed_id IN (SELECT id FROM feeds WHERE workspace_id = $1)'],
  ['feeds'],
  ['revenue_entries'],
  ['revenue_payments'],
  ['revenue_payers'],
  ['revenue_rates'],
  ['ad_spend'],
  ['revenue_connections'],
  ...tablesWithoutForeignKey.map((table): Part => [table]),
]

/** Workspaces that are to be deleted, and those that were. */
export async function listDeletedWorkspaces(q: Queryable): Promise<number[]> {
  return (await q.query<{ id: number }>('SELECT workspace_id AS id FROM workspace_deletions')).map(({ id }) => id)
}

/** Requested at least so long ago, and not done. */
export async function listDueDeletions(q: Queryable, graceMs: number): Promise<number[]> {
  const rows = await q.query<{ id: number }>(
    `SELECT workspace_id AS id FROM workspace_deletions
     WHERE done_at IS NULL AND requested_at <= now() - ${intervalOf('$1')} ORDER BY workspace_id`,
    [graceMs],
  )
  return rows.map(({ id }) => id)
}

const rowsPerStatement = 5_000
const statementDeadlineMs = 60_000

/** All that Postgres has of the workspace but its own row, in portions. */
export async function deleteRowsOf(q: Queryable, workspaceId: number, signal: AbortSignal): Promise<void> {
  for (const [table, condition = ofWorkspace] of tables) {
    for (;;) {
      signal.throwIfAborted()
      const [deleted] = await q.query<{ rows: number }>(
        `WITH gone AS (
           DELETE FROM ${table} WHERE ctid = ANY (ARRAY(SELECT ctid FROM ${table} WHERE ${condition} LIMIT ${rowsPerStatement}))
           RETURNING 1)
         SELECT count(*) AS rows FROM gone`,
        [workspaceId],
        { deadlineMs: statementDeadlineMs },
      )
      if (deleted!.rows < rowsPerStatement) break
    }
  }
}

/** Deletes the workspace's own row, and its owner who neither has nor is a member of another. */
export function finishDeletion(pg: Postgres, workspaceId: number): Promise<void> {
  return pg.transaction(async (tx) => {
    const [workspace] = await tx.query<{ owner: number }>(
      'DELETE FROM workspaces WHERE id = $1 RETURNING owner_id AS owner',
      [workspaceId],
    )
    if (workspace !== undefined) await deleteUnusedAccounts(tx, [workspace.owner])
    await tx.query('UPDATE workspace_deletions SET done_at = now() WHERE workspace_id = $1 AND done_at IS NULL', [
      workspaceId,
    ])
  })
}
