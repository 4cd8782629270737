/** Bounds of senders' input: bodies, and the fields of events and bot visits. */
import { hour, KiB, MiB, minute, second } from './units.ts'

/** Bodies of the public tracking interface, in bytes; beyond them 413. */
export const trackBodyBytesMax = 64 * KiB
export const batchBodyBytesMax = 1 * MiB
/** The query of a pixel, as it came. It has room for an address of the greatest length and its encoding. */
export const pixelQueryBytesMax = 8 * KiB
export const batchEventsMax = 1000
export const botVisitsMax = 1000
/** Deeper nesting, or a number literal with more digits, is refused before parsing. */
export const jsonDepthMax = 64
export const jsonNumberDigitsMax = 400
/** A body must arrive whole within this time: a slow client can't hold memory for longer. */
export const bodyDeadlineMs = 10 * second
/** Bytes of all unfinished bodies that a thread receives, together; beyond it 503. It is 32 of the longest batches at a time. */
export const arrivingBodiesBytesMax = 32 * MiB

/** Fields of an event, in Unicode code points. */
export const eventNameLengthMax = 120
export const identifierLengthMax = 254
export const fullNameLengthMax = 200
export const titleLengthMax = 500
export const urlLengthMax = 2048
export const userAgentLengthMax = 1024
export const languageLengthMax = 64
export const timezoneLengthMax = 64
export const ipLengthMax = 64
/** Characters of a region's or a city's name. */
export const placeNameLengthMax = 100
export const screenWidthMax = 65535
export const propertiesBytesMax = 16 * KiB
export const propertiesKeysMax = 100
export const propertiesDepthMax = 5

/** Web vitals: no real measurement is larger. Chrome's own histograms end at the same interaction time and layout shift. */
export const paintMsMax = 1 * minute
export const interactionMsMax = 1 * minute
export const layoutShiftMax = 10

/** Fields of a bot visit. */
export const methodLengthMax = 16
export const statusCodeMin = 100
export const statusCodeMax = 599
export const responseMsMax = 2 ** 32 - 1

/** Events older than this are refused by the public interface; older data comes in by the local import only. */
export const eventAgeMaxMs = 72 * hour
/** A sender's clock that is further off corrects `occurred_at` only to an age that an event may have. */
export const clockSkewMaxMs = 72 * hour

/** Bytes of a click's row in the log: its referrer, its target's destination, and short names. */
export const linkClickBytesMax = 16 * KiB

/** `Retry-After` in seconds for a 429 of a tracking key, whose limit is per second. */
export const rateRetryAfterSeconds = 1

/** Longer lines of an access log are dropped. */
export const logLineBytesMax = 64 * KiB

/** Longer lines of a file of `svc events import` are refused: events of other products carry more than ours may. */
export const importedLineBytesMax = 1 * MiB
/** Longer visits of Matomo's are refused. Matomo gives at most 500 actions of one by default, of a kilobyte each. */
export const importedVisitBytesMax = 4 * MiB
/** Events that an export reads at a time: 200 MB of the longest ones. */
export const exportedEventsEach = 5_000
/** Ids, names and values of Umami's `event_data` that an import holds until their events come. */
export const importedDataCharactersMax = 128 * MiB
/** Events before this day are refused by imports. The web is younger; an older time is a mistake, such as 1970. */
export const importedFromMs = Date.UTC(1990, 0, 1)
/** The summary of an import tells of so many reasons, and of the first lines of each. */
export const importReasonsMax = 50
export const importFirstLinesMax = 5
