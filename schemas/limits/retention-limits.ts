/** For how long data is kept. */
import { hour } from './units.ts'

/** Days of readable data by plan, and days that a bot visit is kept. */
export const retentionDaysByPlan = { starter: 30, growth: 180, scale: 730 } as const
/** The longest: the bound of a workspace's own setting. */
export const retentionDaysMax = retentionDaysByPlan.scale
export const botRetentionDays = 180
/** Data that is hidden by a downgrade or the end of a plan is deleted after this many days. */
export const lapsedGraceDays = 30
/** If the clocks of pipeline and stores differ by more, one is wrong, and nothing is deleted by age. */
export const deletionClockOffMaxMs = 1 * hour
