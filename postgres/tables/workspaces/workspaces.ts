/** Workspaces and the owners whose plan they live by. */
import { randomUUID } from 'node:crypto'
import type { Role } from '../../../schemas/roles.ts'
import type { Queryable } from '../../client.ts'

/** From the lowest. */
export const planKeys = ['starter', 'growth', 'scale'] as const
export type PlanKey = (typeof planKeys)[number]

export interface Workspace {
  readonly id: number
  readonly name: string
  readonly slug: string
  readonly timezone: string
  readonly currency: string
  /** The owner's plan; null when none is chosen or it has lapsed. */
  readonly plan_key: PlanKey | null
  /** Shorter than the plan's, when the customer wishes so. */
  readonly retention_days: number | null
  readonly replay_enabled: boolean
  /** Sessions of a hundred that are recorded while replay is on. */
  readonly replay_share: number
  /** The dashboard asks its members for one. */
  readonly second_factor_required: boolean
  readonly suspended_at: Date | null
  readonly created_at: Date
  /** When the owner's plan was last lowered or lapsed. */
  readonly plan_changed_at: Date
  /** Events from before it may have been deleted, whatever plan and setting say now. */
  readonly deleted_before: Date | null
}

export interface NewWorkspace {
  readonly name: string
  /** Made from the name when left out. */
  readonly slug?: string | undefined
  readonly timezone: string
  readonly plan: PlanKey | null
  /** An owner of this address gets the workspace and the plan; without one, an owner is made for the workspace alone. */
  readonly ownerEmail?: string | undefined
}

/** The slug that was asked for belongs to another workspace. */
export class SlugTaken extends Error {
  override name = 'SlugTaken'
  constructor(readonly slug: string) {
    super(`the slug \`${slug}\` is taken`)
  }
}

export const slugPattern = /^[a-z0-9](?:[a-z0-9-]{0,58}[a-z0-9])?$/

/** For other tables' queries: the columns of `Workspace`, of `workspaces w` joined with its owner `o`. */
export const workspaceColumns = `w.id, w.name, w.slug, w.timezone, w.currency, o.plan_key, w.retention_days,
  w.replay_enabled, w.replay_share, w.second_factor_required, w.suspended_at, w.created_at, o.plan_changed_at, w.deleted_before`

/**
 * Makes a workspace, its owner where there is none of that address, and the owner's membership. Run it in a transaction.
 * @throws SlugTaken when the slug that was asked for is another's
 */
export async function createWorkspace(
  tx: Queryable,
  { name, slug, timezone, plan, ownerEmail }: NewWorkspace,
): Promise<{ workspaceId: number; slug: string; ownerId: number }> {
  const ownerId = await (ownerEmail === undefined
    ? makeOwner(tx, name, plan)
    : findOrMakeOwner(tx, ownerEmail, name, plan))
  // Two that make a slug from one name at once want the same: the later one takes the next.
  for (;;) {
    const chosen = slug ?? (await freeSlug(tx, slugOf(name)))
    const [made] = await tx.query<{ id: number }>(
      `INSERT INTO workspaces (owner_id, name, slug, timezone) VALUES ($1, $2, $3, $4)
       ON CONFLICT (slug) DO NOTHING RETURNING id`,
      [ownerId, name, chosen, timezone],
    )
    if (made !== undefined) {
      await tx.query(`INSERT INTO members (workspace_id, owner_id, role) VALUES ($1, $2, 'owner')`, [made.id, ownerId])
      return { workspaceId: made.id, slug: chosen, ownerId }
    }
    if (slug !== undefined) throw new SlugTaken(chosen)
  }
}

/** Who a workspace belongs to, locked until the end of the transaction. @returns null when there is no such workspace */
export async function lockOwner(
  tx: Queryable,
  workspaceId: number,
): Promise<{ id: number; email: string; plan: PlanKey | null } | null> {
  const [owner] = await tx.query<{ id: number; email: string; plan: PlanKey | null }>(
    'SELECT id, email, plan_key AS plan FROM owners WHERE id = (SELECT owner_id FROM workspaces WHERE id = $1) FOR UPDATE',
    [workspaceId],
  )
  return owner ?? null
}

/** One whose deletion was asked for is as if it were gone. */
const isKept = 'NOT EXISTS (SELECT FROM workspace_deletions d WHERE d.workspace_id = w.id)'

/** Those that an account owns. Hold it before, so that none is made meanwhile. */
export async function countOwnWorkspaces(tx: Queryable, ownerId: number): Promise<number> {
  const [row] = await tx.query<{ workspaces: number }>(
    `SELECT count(*)::int AS workspaces FROM workspaces w WHERE w.owner_id = $1 AND ${isKept}`,
    [ownerId],
  )
  return row!.workspaces
}

/** Oldest first. */
export function listWorkspaces(q: Queryable): Promise<Workspace[]> {
  return q.query<Workspace>(
    `SELECT ${workspaceColumns} FROM workspaces w JOIN owners o ON o.id = w.owner_id WHERE ${isKept} ORDER BY w.id`,
  )
}

export function listWorkspacesAmong(q: Queryable, ids: readonly number[]): Promise<Workspace[]> {
  return q.query<Workspace>(
    `SELECT ${workspaceColumns} FROM workspaces w JOIN owners o ON o.id = w.owner_id
     WHERE w.id = ANY ($1::int[]) AND ${isKept} ORDER BY w.id`,
    [ids],
  )
}

/** Notes, before it is done, that events of these workspaces from before a moment are deleted. @param beforeMs since 1970 */
export async function noteDeleted(q: Queryable, workspaceIds: readonly number[], beforeMs: number): Promise<void> {
  await q.query(
    `UPDATE workspaces SET deleted_before = greatest(deleted_before, to_timestamp($2::float8 / 1000)) WHERE id = ANY ($1::int[])`,
    [workspaceIds, beforeMs],
  )
}

/** Those in use that an account is a member of, with its role there, oldest first. */
export function listWorkspacesOf(
  q: Queryable,
  ownerId: number,
): Promise<(Pick<Workspace, 'id' | 'name'> & { readonly role: Role })[]> {
  return q.query(
    `SELECT w.id, w.name, m.role FROM members m JOIN workspaces w ON w.id = m.workspace_id
     WHERE m.owner_id = $1 AND w.suspended_at IS NULL ORDER BY w.id`,
    [ownerId],
  )
}

export async function readWorkspace(q: Queryable, id: number): Promise<Workspace | null> {
  const [workspace] = await q.query<Workspace>(
    `SELECT ${workspaceColumns} FROM workspaces w JOIN owners o ON o.id = w.owner_id WHERE w.id = $1 AND ${isKept}`,
    [id],
  )
  return workspace ?? null
}

/** Locked until the end of the transaction, so that what is counted of it isn't counted by two at once. */
export async function lockWorkspace(tx: Queryable, id: number): Promise<void> {
  await tx.query('SELECT 1 FROM workspaces WHERE id = $1 FOR NO KEY UPDATE', [id])
}

/**
 * Sets the plan of the workspace's owner; null for none. A lower one starts the grace that what it hides is kept for.
 * @returns the workspaces that live by it, by their ids: all of the owner's; none when there is no such workspace
 */
export async function setPlan(q: Queryable, workspaceId: number, plan: PlanKey | null): Promise<number[]> {
  const [owner] = await q.query<{ id: number }>(
    `UPDATE owners SET plan_changed_at = ${changedAt('$2::text')}, plan_key = $2
     WHERE id = (SELECT owner_id FROM workspaces WHERE id = $1) RETURNING id`,
    [workspaceId, plan],
  )
  if (owner === undefined) return []
  // Owners have no trigger of their own: touching the workspaces tells whoever keeps them in memory.
  const touched = await q.query<{ id: number }>(
    'UPDATE workspaces SET updated_at = now() WHERE owner_id = $1 RETURNING id',
    [owner.id],
  )
  return touched.map(({ id }) => id).sort((one, other) => one - other)
}

export interface WorkspaceChanges {
  readonly name?: string | undefined
  /** Null: as long as the plan says. */
  readonly retentionDays?: number | null | undefined
  readonly timezone?: string | undefined
  readonly currency?: string | undefined
  readonly replayEnabled?: boolean | undefined
  readonly replayShare?: number | undefined
}

/** Fields that aren't given stay. @returns null when there is no such workspace */
export async function changeWorkspace(
  tx: Queryable,
  id: number,
  { name, retentionDays, timezone, currency, replayEnabled, replayShare }: WorkspaceChanges,
): Promise<Workspace | null> {
  await tx.query(
    `UPDATE workspaces SET retention_days = CASE WHEN $2 THEN $3 ELSE retention_days END,
       timezone = coalesce($4, timezone), currency = coalesce($5, currency), name = coalesce($6, name),
       replay_enabled = coalesce($7, replay_enabled), replay_share = coalesce($8, replay_share), updated_at = now()
     WHERE id = $1`,
    [
      id,
      retentionDays !== undefined,
      retentionDays ?? null,
      timezone ?? null,
      currency ?? null,
      name ?? null,
      replayEnabled ?? null,
      replayShare ?? null,
    ],
  )
  return readWorkspace(tx, id)
}

/** The owner's address is one that nobody has or gets: `.invalid` can't be a real domain (RFC 2606). */
async function makeOwner(tx: Queryable, name: string, plan: PlanKey | null): Promise<number> {
  const [owner] = await tx.query<{ id: number }>(
    'INSERT INTO owners (email, name, plan_key) VALUES ($1, $2, $3) RETURNING id',
    [`owner@${randomUUID()}.invalid`, name, plan],
  )
  return owner!.id
}

async function findOrMakeOwner(tx: Queryable, email: string, name: string, plan: PlanKey | null): Promise<number> {
  const [owner] = await tx.query<{ id: number }>(
    `INSERT INTO owners (email, name, plan_key) VALUES (lower($1), $2, $3)
     ON CONFLICT (email) DO UPDATE SET plan_changed_at = ${changedAt('EXCLUDED.plan_key')}, plan_key = EXCLUDED.plan_key
     RETURNING id`,
    [email, name, plan],
  )
  return owner!.id
}

const plansInOrder = planKeys.map((key) => `'${key}'`).join(', ')

/** SQL for `plan_changed_at` when `newPlan` (SQL) replaces the owner's: moved only where the plan gets lower or ends. */
function changedAt(newPlan: string): string {
  const rank = (plan: string) => `coalesce(array_position(ARRAY[${plansInOrder}], ${plan}), 0)`
  return `CASE WHEN ${rank(newPlan)} < ${rank('owners.plan_key')} THEN now() ELSE owners.plan_changed_at END`
}

/** Lower case letters and digits of `name` with hyphens between; `workspace` when nothing is left of it. */
function slugOf(name: string): string {
  const plain = name.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()
  return (
    plain
      .replace(/[^a-z0-9]+/g, '-')
      .slice(0, 40)
      .replace(/^-+|-+$/g, '') || 'workspace'
  )
}

/** `wanted`, or `wanted-2`, `wanted-3` … where it is taken. */
async function freeSlug(tx: Queryable, wanted: string): Promise<string> {
  const taken = await tx.query<{ slug: string }>(
    `SELECT slug FROM workspaces WHERE slug = $1 OR slug LIKE $1 || '-%'`,
    [wanted],
  )
  const slugs = new Set(taken.map((row) => row.slug))
  let slug = wanted
  for (let n = 2; slugs.has(slug); n++) slug = `${wanted}-${n}`
  return slug
}
