/** Definitions and bounds of figures: sessions, cells and credit, and the fold that computes them. */
import { day, hour, minute, second } from './units.ts'

/** Appearances before this many days are ignored: a fold reads no further, and no answer needs them (`overviewRangeDaysMax`). */
export const knownDaysMax = 400
/** A conversion is credited only to touches of at most this age. */
export const creditWindowMs = 30 * day
/** Below this engagement a single-page session is a bounce. */
export const bounceEngagementMs = 10 * second
/** Visitors seen within this time are live. */
export const liveWindowMs = 5 * minute

/** Interval between the starts of two folds. One that took long is followed by a pause of a third of its time, unless more events wait. */
export const foldEveryMs = 0.7 * second
/** Pause after which days of a workspace whose cells couldn't be written are tried again. */
export const closeRetryMs = 1 * hour
/** A failing close is bisected for this long. A running statement still has until its own deadline. */
export const closingMaxMs = 60 * second
/** How often the pipeline looks for days to close, and for builds to start or delete. */
export const closeDaysEveryMs = 10 * second
export const lookForBuildsEveryMs = 5 * second
/** Pause after which a failed build of figures is tried again. */
export const buildRetryMs = 60 * second
/** New events of one fold. After an outage or an import, the next fold takes the rest. */
export const foldEventsMax = 200_000
/** Events of one part of a build, roughly: a part is read at once. */
export const buildPartEventsMax = 500_000
/** Visitors of one look-up of a fold: their hours are bound as parameters of one statement. */
export const visitorsPerLookUpMax = 20_000
/** A fold reads all stored events of a touched visitor's last days again: this many in one statement. */
export const storedEventsPerStatement = 2_000_000
/** A visitor with more stored events is left out: its rows stay as they are. */
export const storedEventsPerVisitorMax = 1_000_000
/** The same for a workspace's server events of an hour. */
export const storedEventsPerServerHourMax = 20_000_000
/** Visitors with at least this many stored events are counted before they are read. */
export const busyVisitorEvents = 100_000
/** Look-ups of a fold that run side by side. */
export const lookUpsAtOnce = 2
/** Up to 100 visitors within 40 days share one look-up, because a statement costs more than deriving extra days. */
export const sharedLookUpVisitorsMax = 100
export const sharedLookUpDaysMax = 40
export const foldDeadlineMs = 110 * second
/** Duration of the fold's lease. If its holder dies, another pipeline folds once it has expired. */
export const foldLeaseMs = 10 * second
/** `as_of` doesn't wait for an ingest node that has been silent for this long. */
export const leaseSilentMs = 10 * second
/** Repaired hours of one fold. */
export const repairsPerFoldMax = 2_000
/** Time from the end of a local day until it is closed and gets its cells. */
export const dayClosedAfterMs = 2 * hour
/** Only a visitor's first sessions of a local day count. Counts of whole days exclude events of further sessions. */
export const sessionsPerVisitorDayMax = 1_000
/** Pageviews of a session that count for pages on a local day, and touches that count for credit: the earliest ones. */
export const viewsPerSessionDayMax = 2_000
export const touchesPerSessionDayMax = 1_000
/**
 * Conversions of a session and local day that are credited, and of a workspace's server events of a UTC hour: those that came
 * in first. A page that converts in a loop would else have a million rows written with each fold.
 */
export const conversionsPerSessionDayMax = 10_000
export const conversionsPerServerHourMax = 100_000
/** All sessions of a visitor on a local day share room for this many times what one of them may list. */
export const sessionListsPerVisitorDay = 5
/** Conversions of a session and local day that keep their own times. Further equal ones count at the first one's time. */
export const creditsApartMax = 100
/** Cells keep only the largest keys of each kind of a local day; `metrics.lists_cut` is true where there were more. */
export const cellKeysMax = 2_000
/** Days whose cells one statement writes. */
export const cellDaysPerStatement = 32
/**
 * Session rows of the days with stale cells that are written anew between two folds: a quarter of a second, roughly.
 */
export const renewedSessionsMax = 25_000
/** The pause after it, in times of how long it took: renewing takes a fifth of the time at most. */
export const renewalPause = 4
/**
 * A renewal that takes longer, of a day with many sessions, has a longer pause. So folds wait for it in a hundredth of
 * the time at most.
 */
export const longRenewalMs = 500
export const longRenewalPause = 99
/** Session rows that one statement turns into cells, roughly. */
export const cellSessionsPerStatement = 500_000
/** Conversions whose credit one statement reads, roughly. */
export const conversionsPerLookUp = 5_000
/** Rows of an abandoned build are deleted after this time: by then no reader uses it. */
export const leftBuildKeepMs = 10 * minute
