/**
 * How long a workspace's rows stay, which is never shorter than they can be read (docs/retention.md).
 *
 * Readers go by plan and setting at once. The next run deletes the rows that the customer's setting cut off. Rows that
 * a lower plan or its end hides stay for a grace period, so that a failed card destroys nothing. After it, a workspace
 * without a plan is kept as the smallest plan would be: its tracking goes on.
 */
import type { Workspace } from '../../postgres/tables/workspaces/workspaces.ts'
import { groupBy } from '../../runtime/lists.ts'
import { lapsedGraceDays, retentionDaysByPlan } from '../../schemas/limits/retention-limits.ts'
import { dayMs } from '../../schemas/time/time-zone.ts'

const longest = Math.max(...Object.values(retentionDaysByPlan))
const shortest = Math.min(...Object.values(retentionDaysByPlan))

export type Retained = Pick<Workspace, 'plan_key' | 'retention_days' | 'plan_changed_at'>

/** Days that the workspace's rows are kept, as of `now`. */
export function keptDays({ plan_key, retention_days, plan_changed_at }: Retained, now: number): number {
  const isInGrace = now - plan_changed_at.getTime() < lapsedGraceDays * dayMs
  const byPlan = plan_key === null ? shortest : retentionDaysByPlan[plan_key]
  return Math.min(isInGrace ? longest : byPlan, retention_days ?? longest)
}

/**
 * The moment before which rows that are kept for `days` days are past their time. It is a UTC midnight: tables are
 * divided by UTC days, and a day is best deleted once, when all of it is expired.
 */
export function expiryOf(days: number, now: number): number {
  return Math.floor((now - days * dayMs) / dayMs) * dayMs
}

/** A customer's own setting expires rows to the moment: waiting for the day's end would take longer than promised. */
export function expiryOfWorkspace(workspace: Retained, now: number): number {
  const days = keptDays(workspace, now)
  const isShortened = days < keptDays({ ...workspace, retention_days: null }, now)
  return isShortened ? now - days * dayMs : expiryOf(days, now)
}

/**
 * By workspace, the moment before which rows may be deleted. They are past their time now, or were when retention ran
 * under a plan or setting that was raised since.
 */
export function keptFromOf(
  workspaces: readonly (Retained & Pick<Workspace, 'id' | 'deleted_before'>)[],
  now: number,
): Map<number, number> {
  return new Map(
    workspaces.map((workspace) => {
      const deletedBefore = workspace.deleted_before?.getTime() ?? 0
      return [workspace.id, Math.max(expiryOfWorkspace(workspace, now), deletedBefore)]
    }),
  )
}

/** Rows of the workspace from before this time are to be deleted. */
export interface Expiring {
  readonly workspaceId: number
  readonly before: number
}

export interface ExpiryGroup {
  readonly before: number
  readonly workspaceIds: readonly number[]
}

/** Workspaces by the moment before which their rows are past their time, the earliest first. */
export function groupByExpiry(workspaces: readonly (Retained & { id: number })[], now: number): ExpiryGroup[] {
  return [...groupBy(workspaces, (workspace) => expiryOfWorkspace(workspace, now))]
    .map(([before, group]) => ({ before, workspaceIds: group.map(({ id }) => id) }))
    .sort((a, b) => a.before - b.before)
}
