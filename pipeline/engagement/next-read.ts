/**
 * When a published post's figures are read: often while it is new, seldom later. Where the network bills each read
 * (`isCharged`), three times in all.
 */
import { backoffMs } from '../../runtime/retry.ts'
import {
  engagementChargedAgesMs,
  engagementDailyForMs,
  engagementFirstMs,
  engagementHourlyForMs,
  engagementRetryFirstMs,
  engagementRetryMaxMs,
} from '../../schemas/limits/engagement-limits.ts'
import { day, hour } from '../../schemas/limits/units.ts'

export function firstReadAt(publishedAt: Date, isCharged: boolean): Date {
  return new Date(publishedAt.getTime() + (isCharged ? engagementChargedAgesMs[0] : engagementFirstMs))
}

/** After a read at `now`, in milliseconds since 1970. The last one is at the end of the month. @returns null: none */
export function nextReadAt(publishedAt: Date, now: number, isCharged: boolean): Date | null {
  const ageMs = now - publishedAt.getTime()
  if (isCharged) {
    const next = engagementChargedAgesMs.find((age) => age > ageMs)
    return next === undefined ? null : new Date(publishedAt.getTime() + next)
  }
  if (ageMs >= engagementDailyForMs) return null
  const end = publishedAt.getTime() + engagementDailyForMs
  return new Date(Math.min(end, now + (ageMs < engagementHourlyForMs ? hour : day)))
}

/**
 * After a read that failed.
 * @param waitMs undefined: longer after each failure in a row. @returns null: it is given up
 */
export function retryAt(
  { publishedAt, failures }: { readonly publishedAt: Date; readonly failures: number },
  now: number,
  waitMs?: number,
): Date | null {
  if (now - publishedAt.getTime() >= engagementDailyForMs) return null
  return new Date(now + (waitMs ?? backoffMs(failures, engagementRetryFirstMs, engagementRetryMaxMs)))
}
