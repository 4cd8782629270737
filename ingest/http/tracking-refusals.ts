/** The closed list of the tracking routes' refusals, apart from the error lists of 422. docs/tracking.md shows it. */
import { refusals } from '../../runtime/http/refusals.ts'
import { problems } from '../../schemas/errors/problems.ts'

const { body_unparsable, not_found, method_not_allowed, internal } = problems

export const trackingRefusals = {
  ...refusals,
  body_unparsable,
  not_found,
  method_not_allowed,
  internal,
  keyUnknown: { status: 401, detail: 'Unknown tracking key' },
  keyUnsure: { status: 503, detail: 'The tracking key can’t be checked now' },
  keyRate: { status: 429, detail: 'Too many events for this tracking key' },
  replayOff: { status: 403, detail: 'Replay is off for this workspace' },
  replayOfBot: { status: 403, detail: 'Replays of bots are not stored' },
  replayFull: { status: 403, detail: 'The replay of this session has reached its limit' },
  replayDayFull: { status: 429, detail: 'The replays of this workspace have reached the day’s limit' },
  logFull: { status: 503, detail: 'The event log is full' },
  diskFull: { status: 503, detail: 'The disk is full' },
  queueFull: { status: 503, detail: 'The event queue is full' },
  notStored: { status: 503, detail: 'The event could not be stored' },
} as const
