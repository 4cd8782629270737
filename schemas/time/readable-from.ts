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

interface DatedReader extends Reader {
  readonly timezone: string
  /** Retention has deleted events up to here, perhaps under a lower plan or a shorter setting than now. */
  readonly deleted_before: Date | null
}

/**
 * The moment before which nothing is shown: the first local midnight at or after now − the readable days of 24 hours each.
 * Where retention has deleted later events, it is the first local midnight at or after what it left.
 * May lie in the future: without a plan, or where the only readable day has 25 hours.
 */
export function readableFrom(workspace: DatedReader, now: number): number {
  const oldest = Math.max(now - readableDays(workspace) * dayMs, workspace.deleted_before?.getTime() ?? 0)
  return startOfLocalDay(localDayAt(oldest - 1, workspace.timezone) + 1, workspace.timezone)
}
