/** The bounds of deliveries to webhooks, with their unit and reason. */
import { day, hour, KiB, minute, second } from './units.ts'

/** Receivers are told of conversions that happened so long ago at most: an outage of the pipeline may last a week. */
export const toldConversionAgeMaxMs = 10 * day
/** Of one attempt, from the look-up of the host to the end of the answer. */
export const webhookAttemptMs = 15 * second
/** Of an answer so much is read before the connection is cut, and so much of it is kept. */
export const webhookAnswerBytesMax = 64 * KiB
export const webhookAnswerKeptBytes = 1024
/** After each failed attempt the next one follows so much later; after the last of them the delivery has failed. */
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
/** By so large a part of itself a wait is longer, at most: what failed together doesn't come back together. */
export const webhookJitter = 0.2
/** What a receiver asks for with `Retry-After` counts up to here. */
export const webhookRetryAfterMaxMs = 1 * day
/** An endpoint that has had nothing but failures for so long is disabled. */
export const webhookFailingMaxMs = 5 * day
/** Records of deliveries, and the events that they tell of, are deleted this long after they were made. */
export const webhookRecordKeepMs = 30 * day
/** One statement writes down the deliveries of so many events, at most. */
export const webhookFanOutMax = 500
/** Endpoints that one process sends to at a time. */
export const webhookTurnsMax = 500
/** Attempts under way to one endpoint: while it is well, and while it fails, so that hanging ones hold little. */
export const webhookInFlightMax = 16
export const webhookInFlightFailingMax = 4
/** Deliveries of an endpoint that are read at a time. */
export const webhookReadEach = 64
/** A turn begins no attempt after so long: then others have theirs. */
export const webhookTurnMs = 5 * second
/** A process that died gives an endpoint away after this: longer than a turn and the attempts at its end. */
export const webhookLeaseMs = 30 * second
/** While nothing waits, the outbox is looked at so often. */
export const webhookPollMs = 200
/** So many of these one statement deletes. */
export const webhookExpiredEach = 5_000

/** Events for webhooks of one statement: at 16 KB of properties each it stays well within its deadline. */
export const outboxRowsPerStatement = 500
