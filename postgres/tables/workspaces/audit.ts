/** Audit events: rows of a workspace form a chain of hashes, made and held by the database (0004_mutations.sql). */
import type { ActorType, AuditedInterface } from '../../../schemas/resources/audit-event.ts'
import type { Queryable } from '../../client.ts'
import type { Page } from '../../page.ts'

export interface NewAuditEvent {
  readonly workspaceId: number
  /** `post.create`: the operation's name. */
  readonly action: string
  readonly actorType: ActorType
  readonly actorId: number | null
  readonly actorName: string
  readonly interface: AuditedInterface
  readonly resourceType: string
  readonly resourceId: number | null
  readonly requestId: string | null
  readonly ipHash: string | null
  readonly metadata: Readonly<Record<string, unknown>>
}

export interface AuditEvent {
  readonly id: number
  readonly action: string
  readonly actor_type: ActorType
  readonly actor_id: number | null
  readonly actor_name: string
  readonly interface: AuditedInterface
  readonly resource_type: string
  readonly resource_id: number | null
  readonly request_id: string | null
  readonly ip_hash: string | null
  readonly metadata: Record<string, unknown>
  readonly created_at: Date
  readonly previous_hash: string
  readonly hash: string
}

/** Appends to the workspace's chain. To be the last statement of its transaction: others of the workspace wait for its end. */
export async function appendAuditEvent(tx: Queryable, event: NewAuditEvent): Promise<void> {
  await tx.query('SELECT append_audit_event($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)', [
    event.workspaceId,
    event.action,
    event.actorType,
    event.actorId,
    event.actorName,
    event.interface,
    event.resourceType,
    event.resourceId,
    event.requestId,
    event.ipHash,
    JSON.stringify(event.metadata),
  ])
}

/** A change by the product itself, or by an operator's command. */
export interface SystemChange {
  readonly workspaceId: number
  /** `npm start`, `svc` or `pipeline`. */
  readonly actorName: string
  /** `api_key.create`: the resource's type and what was done. */
  readonly action: `${string}.${string}`
  readonly resourceId: number | null
  readonly metadata: Readonly<Record<string, unknown>>
}

/** To be the last statement of its transaction, as `appendAuditEvent`. */
export function appendSystemChange(tx: Queryable, { action, ...change }: SystemChange): Promise<void> {
  return appendAuditEvent(tx, {
    action,
    ...change,
    resourceType: action.split('.')[0]!,
    actorType: 'system',
    actorId: null,
    interface: 'cli',
    requestId: null,
    ipHash: null,
  })
}

export interface AuditFilter extends Page {
  readonly action?: string | undefined
  readonly actorId?: number | undefined
  readonly actorType?: ActorType | undefined
}

/** How often something was done in the workspace since a moment; counted up to `max`. */
export async function countAudited(
  q: Queryable,
  workspaceId: number,
  { action, since, max }: { readonly action: string; readonly since: Date; readonly max: number },
): Promise<number> {
  const [row] = await q.query<{ times: number }>(
    `SELECT count(*)::int AS times FROM (
       SELECT created_at FROM audit_events WHERE workspace_id = $1 AND action = $2 ORDER BY id DESC LIMIT $4
     ) AS newest WHERE created_at > $3`,
    [workspaceId, action, since, max],
  )
  return row!.times
}

/**
 * Who made the latest change of the post: a member by e-mail, or a key by its name.
 * @returns null where nobody did but the product itself, as when it publishes
 */
export async function whoChangedPost(
  q: Queryable,
  workspaceId: number,
  { id, updated_at }: { readonly id: number; readonly updated_at: Date },
): Promise<Pick<AuditEvent, 'actor_type' | 'actor_id' | 'actor_name'> | null> {
  // Its row is written after the change, in the same transaction. Rows behind it are of calls that changed nothing.
  const [row] = await q.query<Pick<AuditEvent, 'actor_type' | 'actor_id' | 'actor_name'>>(
    `SELECT actor_type, actor_id, actor_name FROM audit_events
     WHERE workspace_id = $1 AND resource_type = 'post' AND resource_id = $2 AND created_at >= $3 ORDER BY id LIMIT 1`,
    [workspaceId, id, updated_at],
  )
  return row ?? null
}

/** Newest first. */
export function listAuditEvents(q: Queryable, workspaceId: number, filter: AuditFilter): Promise<AuditEvent[]> {
  return q.query<AuditEvent>(
    `SELECT id, action, actor_type, actor_id, actor_name, interface, resource_type, resource_id, request_id, ip_hash,
       metadata, created_at, previous_hash, hash
     FROM audit_events
     WHERE workspace_id = $1 AND ($3::bigint IS NULL OR id < $3) AND ($4::text IS NULL OR action = $4)
       AND ($5::bigint IS NULL OR actor_id = $5) AND ($6::text IS NULL OR actor_type = $6)
     ORDER BY id DESC LIMIT $2`,
    [
      workspaceId,
      filter.limit,
      filter.beforeId ?? null,
      filter.action ?? null,
      filter.actorId ?? null,
      filter.actorType ?? null,
    ],
  )
}

export interface ChainVerdict {
  readonly rows: number
  /** The first row that isn't what was written, or doesn't follow the one before; null: none. */
  readonly firstBroken: number | null
  /** Rows are missing at the end. */
  readonly isCut: boolean
}

/** Workspaces that are there or have a chain, which stays when they are deleted. */
export async function listAuditedWorkspaces(q: Queryable): Promise<number[]> {
  const rows = await q.query<{ id: number }>(
    'SELECT id FROM workspaces UNION SELECT workspace_id FROM audit_heads ORDER BY 1',
  )
  return rows.map(({ id }) => id)
}

/** Recomputes the workspace's chain. */
export async function verifyAuditChain(q: Queryable, workspaceId: number, deadlineMs: number): Promise<ChainVerdict> {
  const [verdict] = await q.query<ChainVerdict>(
    `WITH chain AS (
       SELECT id, hash, previous_hash, audit_hash(event) AS computed, lag(hash, 1, repeat('0', 64)) OVER (ORDER BY id) AS expected
       FROM audit_events event WHERE workspace_id = $1
     )
     -- The last row's hash is held by the head alone.
     SELECT count(*) AS rows, min(chain.id) FILTER (WHERE chain.hash <> computed OR previous_hash <> expected
         OR (chain.id = head.last_id AND chain.hash <> head.hash)) AS "firstBroken",
       coalesce((SELECT last_id <> coalesce((SELECT max(id) FROM chain), 0) FROM audit_heads WHERE workspace_id = $1), count(*) > 0) AS "isCut"
     FROM chain LEFT JOIN audit_heads head ON head.workspace_id = $1`,
    [workspaceId],
    { deadlineMs },
  )
  return verdict!
}
