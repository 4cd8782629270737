/** How far back a workspace may read its analytics. */
import { retentionDaysByPlan } from '../limits/retention-limits.ts'
import { dayMs, localDayAt, startOfLocalDay } from './time-zone.ts'

interface Reader {
  readonly plan_key: keyof typeof retentionDaysByPlan | null
  readonly retention_days: number | null
}

/** The plan's days, or the workspace's own where they are fewer: at once, whatever is still stored. Without a plan none. */
export function readableDays({ plan_key, retention_days }: Reader): number {
  const planDays = plan_key === null ? 0 : retentionDaysByPlan[plan_key]
  return Math.min(planDays, retention_days ?? planDays)
}

/**
 * The moment before which nothing is shown: the first local midnight at or after now − the readable days of 24 hours each.
 * May lie in the future: without a plan, or where the only readable day has 25 hours.
 */
export function readableFrom(workspace: Reader & { readonly timezone: string }, now: number): number {
  const oldest = now - readableDays(workspace) * dayMs
  return startOfLocalDay(localDayAt(oldest - 1, workspace.timezone) + 1, workspace.timezone)
}
