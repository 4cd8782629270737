/** Limits of reading how published posts do on their networks. */
import { day, hour, minute, second } from './units.ts'

/** How often it is looked for posts that are due. */
export const engagementEveryMs = 15 * second
/** First read after the publication; then one an hour for a day, one a day for a month, and no more. */
export const engagementFirstMs = 15 * minute
export const engagementHourlyForMs = 1 * day
export const engagementDailyForMs = 30 * day
/** Ages at which a post is read where the network bills each read. */
export const engagementChargedAgesMs = [1 * day, 7 * day, 30 * day] as const
/** Accounts that one process reads at a time. */
export const engagementAccountsEach = 8
/**
 * Posts of an account in one turn, and the pause until its next turn. A platform gets at most 30 requests a minute for
 * an account.
 */
export const engagementPostsEach = 30
export const engagementPauseMs = 1 * minute
/** One turn altogether. */
export const engagementTurnMs = 45 * second
/** Lease of an account. It outlasts a turn by more than clocks of processes differ. */
export const engagementLeaseMs = 5 * minute
/** Wait after reads that failed for now: it doubles. Refused ones are tried again after a day. */
export const engagementRetryFirstMs = 10 * minute
export const engagementRetryMaxMs = 6 * hour
export const engagementRefusedMs = 1 * day
/** Wait of an account whose credentials don't reach so far, or are over. */
export const engagementUnauthorizedMs = 6 * hour
/** Wait after a limit where the platform names no time; and how far it is believed: quotas are renewed each day. */
export const engagementLimitMs = 15 * minute
export const engagementLimitMaxMs = 1 * day
/** Posts of one request. */
export const blueskyPostsEach = 25
export const linkedinPostsReadEach = 20
