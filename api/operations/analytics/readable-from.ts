/** How far back a workspace may read its analytics. */
import { retentionDaysByPlan } from '../../../schemas/limits.ts'
import { dayMs } from '../../../schemas/time-zone.ts'

/** The plan's days, or the workspace's own where they are fewer: at once, whatever is still stored. */
export function readableFrom(
  workspace: { plan_key: keyof typeof retentionDaysByPlan; retention_days: number | null },
  now: number,
): number {
  const planDays = retentionDaysByPlan[workspace.plan_key]
  return now - Math.min(planDays, workspace.retention_days ?? planDays) * dayMs
}
