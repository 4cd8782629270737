/** How far back a workspace may read its analytics. */
import { retentionDaysByPlan } from '../../../schemas/limits.ts'
import { dayMs } from '../../../schemas/time-zone.ts'

interface Reader {
  readonly plan_key: keyof typeof retentionDaysByPlan | null
  readonly retention_days: number | null
}

/** The plan's days, or the workspace's own where they are fewer: at once, whatever is still stored. Without a plan none. */
export function readableDays({ plan_key, retention_days }: Reader): number {
  const planDays = plan_key === null ? 0 : retentionDaysByPlan[plan_key]
  return Math.min(planDays, retention_days ?? planDays)
}

/** The moment before which nothing is shown. */
export function readableFrom(workspace: Reader, now: number): number {
  return now - readableDays(workspace) * dayMs
}
