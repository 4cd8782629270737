/** Bounds of traffic alerts, and of messages about failed posts and accounts. */
import { day, hour, minute, second } from './units.ts'

/** Live visitors of a spike. */
export const spikeVisitorsMax = 1_000_000
/** Hours without a visitor of a drop. */
export const dropHoursMax = 168
/** Interval at which traffic is looked at. */
export const trafficEveryMs = minute
/** A workspace is told of a kind at most once in this time. */
export const alertPauseMs = day
/** Drops aren't looked for while figures, or what a node of ingest has shipped, are further behind. */
export const trafficLagMaxMs = 5 * minute
/** Workspaces that one statement looks at. */
export const trafficReadEach = 200
/** Workspaces whose figures are read at a time. */
export const trafficAtOnce = 4
/** How far behind a look may be, and still tell of what came meanwhile. */
export const unseenMaxMs = 7 * day
/** Deadline of the statement that looks for a workspace's last visitor: of up to three weeks. */
export const lastVisitDeadlineMs = 30 * second
/** An alert of a spike has so many rows of each list, of this time before it. */
export const spikeRows = 3
export const spikeListsMs = 30 * minute
/** Interval at which mails of alerts are looked for. */
export const alertMailsEveryMs = 5 * second
/** Delays between a failed attempt and the next; after the last of them the mail has failed. */
export const alertRetryDelaysMs = [minute, 5 * minute, 30 * minute, hour, 2 * hour] as const
/** A later mail isn't sent any more: the next alert may be near. */
export const alertLateMaxMs = 12 * hour
/** Accounts of a failed post that a message names, of those that failed and of those that took it. */
export const failureRows = 5
/** An account is told of after this: the end of its post mostly comes before, and tells of both. */
export const expiredAccountDelayMs = 2 * minute

/** Names of events whose conversions a recipient is told of. */
export const conversionNamesMax = 20
/** A conversion, payment or refund that becomes known later than this isn't told: imports and outages bring old ones. */
export const toldConversionLateMaxMs = hour
/** A chat has at most one message about conversions in this time, and an address one mail. */
export const chatConversionsPauseMs = minute
export const mailConversionsPauseMs = hour
/**
 * The next message may be so far away; what comes while it is further is left out. It is more than the pause of mails: what
 * was read before a mail went out is written down after it, and clocks differ.
 */
export const conversionsWaitMaxMs = mailConversionsPauseMs + 15 * minute
/** A message that can't be sent is left out this long after the first that it tells of. */
export const conversionsLateMaxMs = 2 * hour
/** Messages about conversions to a recipient in a UTC day. */
export const conversionMessagesDailyMax = 100
/** The first conversions, and the first payments and refunds, that a message lists. */
export const conversionRows = 5
