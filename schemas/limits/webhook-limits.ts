/** The bounds of deliveries to webhooks, with their unit and reason. */
import { day, hour, KiB, minute, second } from './units.ts'

/** Receivers are told of conversions of the last ten days: an outage of the pipeline may last a week. */
export const toldConversionAgeMaxMs = 10 * day
/** How often workspaces are looked for whose endpoints are told of clicks, and how often the clicks of one are read. */
export const clickSubscribersEveryMs = 10 * second
export const toldClicksEveryMs = 1 * minute
/** Older clicks aren't told: so a pipeline that was away has a bounded time to read. */
export const toldClickAgeMaxMs = 2 * day
/** Marks stay longer than clicks are told. Else a clock that runs days ahead would drop them, and their clicks would be told again. */
export const toldClickMarksKeptMs = toldClickAgeMaxMs + 7 * day
/** Clicks, and links with any, that one reading takes: with more of them it takes the oldest. */
export const toldClickRowsMax = 1_000_000
export const toldClickLinksMax = 5_000
/** Names of each list. */
export const toldClickNamesMax = 5
/** Workspaces whose clicks a process takes at a time, and reads at a time. */
export const toldClicksReadEach = 20
export const toldClicksAtOnce = 2
/** Deadline of one attempt, from the look-up of the host to the end of the answer. */
export const webhookAttemptMs = 15 * second
/** Bytes of an answer that are read before the connection is cut, and bytes that are kept. */
export const webhookAnswerBytesMax = 64 * KiB
export const webhookAnswerKeptBytes = 1024
/** Delays between a failed attempt and the next; after the last of them the delivery has failed. */
export const webhookRetryDelaysMs = [
  5 * second,
  30 * second,
  5 * minute,
  30 * minute,
  2 * hour,
  6 * hour,
  12 * hour,
  24 * hour,
] as const
/** Waits are up to a fifth longer, at random, so that failures of one moment don't all come back together. */
export const webhookJitter = 0.2
/** A receiver's `Retry-After` counts up to one day. */
export const webhookRetryAfterMaxMs = 1 * day
/** The longest wait of a delivery. A later due time was set by a fast clock. */
export const webhookWaitMaxMs = (1 + webhookJitter) * Math.max(webhookRetryAfterMaxMs, ...webhookRetryDelaysMs)
/** An endpoint that has had only failures for five days is disabled. */
export const webhookFailingMaxMs = 5 * day
/** Records of deliveries, and the events that they tell of, are deleted this long after they were made. */
export const webhookRecordKeepMs = 30 * day
/** Events whose deliveries one statement writes down. */
export const webhookFanOutMax = 500
/** Endpoints that one process sends to at a time. */
export const webhookTurnsMax = 500
/** Attempts under way to one endpoint: while it is well, and while it fails, so that hanging ones hold little. */
export const webhookInFlightMax = 16
export const webhookInFlightFailingMax = 4
/** Deliveries of an endpoint that are read at a time. */
export const webhookReadEach = 64
/** A turn begins no attempt after this time: then others have theirs. */
export const webhookTurnMs = 5 * second
/** A process that died gives an endpoint away after this: longer than a turn and the attempts at its end. */
export const webhookLeaseMs = 30 * second
/** Interval at which the outbox is polled while nothing waits. */
export const webhookPollMs = 200
/** Rows that one statement deletes. */
export const webhookExpiredEach = 5_000

/** Events for webhooks of one statement: at 16 KB of properties each it stays well within its deadline. */
export const outboxRowsPerStatement = 500
