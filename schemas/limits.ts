/**
 * Every bound in one place, with its unit and its reason; those of the customer API's mutations and lists: api-limits.ts. What an operator may change is a setting (runtime/settings.ts);
 * what stands here is part of the interface or of the durable formats.
 */

const KiB = 1024
const MiB = 1024 * 1024
const second = 1000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

/** Bodies of the public tracking interface, in bytes; beyond them 413. */
export const trackBodyBytesMax = 64 * KiB
export const batchBodyBytesMax = 1 * MiB
export const batchEventsMax = 1000
export const botVisitsMax = 1000
/** JSON bodies of the REST API, in bytes. */
export const apiBodyBytesMax = 1 * MiB
/** Deeper bodies are refused before they are parsed; a number literal of more digits as well. */
export const jsonDepthMax = 64
export const jsonNumberDigitsMax = 400
/** What a 422 shows of one thing that was sent: longer texts are cut, longer objects and lists left out. */
export const errorInputBytesMax = 1 * KiB
/** A body must arrive whole within this time: a slow client can't hold memory for longer. */
export const bodyDeadlineMs = 10 * second
/** Bodies of one process that have begun to arrive and aren't whole, together; beyond it 503. */
export const arrivingBodiesBytesMax = 64 * MiB

/** Fields of an event, in Unicode code points. */
export const eventNameLengthMax = 120
export const identifierLengthMax = 254
export const fullNameLengthMax = 200
export const titleLengthMax = 500
export const urlLengthMax = 2048
export const userAgentLengthMax = 1024
export const languageLengthMax = 35
export const timezoneLengthMax = 64
export const ipLengthMax = 64
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

/** Entries of the memories that ingest keeps of what it has worked out: agents, hosts, proxies, cookieless visitors, countries of addresses. */
export const agentCacheMax = 20_000
export const hostCacheMax = 20_000
export const addressCacheMax = 20_000
export const visitorCacheMax = 100_000
export const countryCacheMax = 100_000
/** Look-ups of unknown keys at one time, and how long one is waited for; beyond either 503. */
export const keyLookupsMax = 16
export const keyLookupMs = 2.5 * second

/** Events older than this are refused by the public interface; older data comes in by the local import only. */
export const eventAgeMaxMs = 72 * hour
/** A client clock off by more than this is not believed when `sent_at` corrects `occurred_at`. */
export const clockSkewMaxMs = 72 * hour

/** Touches before a conversion count for its credit for so long. */
export const creditWindowMs = 30 * day
/** A session is meant to last at most this long. */
export const sessionLengthMaxMs = 24 * hour
/** Below this engagement a single-page session is a bounce. */
export const bounceEngagementMs = 10 * second
/** Visitors seen within this time are live. */
export const liveWindowMs = 5 * minute

/** The event log. A row's id is segment number × 2^17 + its index in the segment. */
export const segmentRowsMax = 2 ** 17
export const segmentBytesMax = 16 * MiB
export const segmentAgeMs = 250
/** Segments of one insert into ClickHouse, together. */
export const insertBytesMax = 16 * MiB
/** While the loader is behind, segments are gathered for so long into one insert. */
export const gatherWhileBehindMs = 5 * second
/** Claims of one call to Redis: it blocks others for about 5 ms. */
export const claimsPerCallMax = 2000
/** One group commit; beyond it new requests get 503 until the group is synced. */
export const groupBytesMax = 16 * MiB
export const logFileBytes = 64 * MiB
/** How often a new log file is tried for, and after how many tries senders of a failed group are told all the same. */
export const logFileRetryMs = 500
export const logFileTriesBeforeAnswer = 9
/** A retired log file is kept so long before it is recycled: after a power loss its rows may be asked for again. */
export const retiredFileKeepMs = 10 * minute
/** … but of all retired files together no more than this is kept. */
export const retiredBytesMax = 4 * 1024 * MiB
/** Segment numbers a node leases at a time: at 8 segments a second more than a day. */
export const segmentLeaseSize = 1_000_000
/** Numbers taken from the lease file at a time, each time with one sync. */
export const segmentReserveSize = 256
/**
 * How often it is published up to where a node's events are stored: a small write to Postgres each time. After a load it
 * is published sooner, so long after the last time at least.
 */
export const markIntervalMs = 0.5 * second
export const markSpacingMs = 250
/** The largest segment number whose ids stay exact in JSON. */
export const segmentNumberMax = 2 ** 36 - 1

/** Deadlines of outside calls. */
export const postgresDeadlineMs = 5 * second
export const redisDeadlineMs = 2 * second
export const clickhouseQueryDeadlineMs = 15 * second
/** All statements of one answer together, so that it is 503 in less than five seconds while ClickHouse hangs. */
export const clickhouseAnswerDeadlineMs = 3.5 * second
export const clickhouseInsertDeadlineMs = 120 * second
export const clickhouseQueryMemoryMax = 4 * 1024 * MiB

/** The fold begins so long after the last one began, and leaves as much time between two as the last one took. */
export const foldEveryMs = second
/** How often it is looked for days that are over, and for changed timezones and builds that were left. */
export const closeDaysEveryMs = 10 * second
export const keepBuildsEveryMs = 5 * second
/** Events of one fold; after a long outage or an import the rest comes with the next one. */
export const foldEventsMax = 200_000
/** Events of one part of a build, about: it reads them all at once. */
export const buildPartEventsMax = 500_000
/** Visitors of a fold that are looked up at once: their hours stand in one statement's parameters. */
export const visitorsPerLookUpMax = 20_000
export const foldDeadlineMs = 110 * second
/** Whoever folds has the work to itself; when it dies, others take it over after this. */
export const foldLeaseMs = 10 * second
/** An ingest node that has been silent for so long doesn't hold `as_of` back. */
export const leaseSilentMs = 10 * second
/** Hours changed behind the marks that one fold takes up. */
export const repairsPerFoldMax = 2_000
/** A local day gets its cells so long after its end. */
export const dayClosedAfterMs = 2 * hour
/** Of a visitor and local day so many sessions count, those that came in first; events of others are in no count of whole days. */
export const sessionsPerVisitorDayMax = 1_000
/** Of a session and local day so many pageviews count for pages, and so many touches for credit, the earliest. */
export const viewsPerSessionDayMax = 2_000
export const touchesPerSessionDayMax = 1_000
/** Conversions of a session and local day that keep their times; of more those that are alike count as at the first one's. */
export const creditsApartMax = 100
/** Keys of a local day's pages and sources that cells keep, the largest: `metrics.lists_cut` says where there were more. */
export const cellKeysMax = 2_000
/** Session rows whose days one statement makes cells of, about. */
export const cellSessionsPerStatement = 500_000
/** A contact binds so many browsers, those identified first; others stay visitors of their own. */
export const browsersPerContactMax = 200
/** Rows of the inbox that one transaction applies to people. */
export const inboxRowsPerMerge = 2_000
/** Such transactions between two folds, at most. */
export const mergesPerRoundMax = 5
/** Pieces of work on people that are done at once, and contacts whose figures one statement computes. */
export const peopleWorkMax = 2_000
export const contactsPerStatement = 500
/** Rows of a build that was left are deleted after so long: no reader goes by it any more. */
export const leftBuildKeepMs = 10 * minute

/**
 * Short links that a thread of ingest keeps at hand, the newest: some hundred bytes each, and of all that they lead to no more
 * than these bytes, since one may take 30 KB. Of changes those of so long before the last known are read again: a transaction
 * that began earlier may have been committed later.
 */
export const linkTableMax = 100_000
export const linkTableBytesMax = 64 * MiB
export const linkOverlapMs = 1 * minute
/**
 * Posts whose workspace a thread of ingest keeps at hand, the newest. So many ids before the last known are read again: a
 * transaction that took its id earlier may have been committed later.
 */
export const postTableMax = 100_000
export const postOverlap = 1_000
/** What the row of a click takes in the log, at most: its referrer, and names that are short. */
export const linkClickBytesMax = 16 * KiB

/** The table of tracking keys: how often it is read anew when no notification came, and how long "no such key" is believed. */
export const keyPollMs = 5 * second
export const unknownKeyCacheMs = 2 * second
export const unknownKeyCacheMax = 10_000

/** What is known of a secret key is believed for so long: with one look-up's time it stays under the 5 s that revoking may take. */
export const apiKeyCacheMs = 2 * second
export const apiKeyCacheMax = 10_000
/** How often a key's use is written down. */
export const apiKeyTouchMs = 1 * minute
/** How long the API's health waits for a store. */
export const healthDeadlineMs = 2 * second

/** `Retry-After` of 503, in seconds; a tracking key's own limit is one of a second. */
export const retryAfterSeconds = 5
export const rateRetryAfterSeconds = 1

/** The analytics overview. */
export const overviewDaysMax = 365
export const overviewDaysDefault = 30
export const overviewHoursMax = 744
export const overviewRangeDaysMax = 366
/** Of a series, where its interval is asked for. */
export const bucketsMax = 2_000
export const overviewRowsDefault = 10
export const overviewRowsMax = 100
/** Of one list of sessions by a property: ten pages of 100. */
export const breakdownRowsMax = 1_000
/** Filters: values of one, the length of a value, and sources that a channel is looked for among. */
export const filterValuesMax = 20
export const filterTextLengthMax = 2_048
export const channelSourcesMax = 10_000
/** Conversions that are listed with their touches, and touches of each. */
export const conversionsDefault = 50
export const conversionsMax = 200
export const touchesOfConversionMax = 20
/** So often an overview is asked whose cells are written anew meanwhile. */
export const overviewAttemptsMax = 3
export const recentEventsMax = 50
/** Series: hour buckets up to, day buckets up to; weeks beyond. */
export const hourBucketsSpanMs = 72 * hour
export const dayBucketsDaysMax = 120

/** Equal questions for an overview within so long of each other get one answer: that much older than they could be. */
export const overviewReuse = { leastMs: 200, mostMs: 1 * second }
/** People: rows of a page, events of a journey, letters of a search. */
export const peopleDefault = 100
export const peopleMax = 250
export const journeyEventsDefault = 200
export const journeyEventsMax = 500
export const peopleSearchLengthMax = 200
/** Days that stored data can be read, by plan, and how long a bot visit is kept. */
export const retentionDaysByPlan = { starter: 30, growth: 180, scale: 730 } as const
/** The longest of them: what a workspace's own setting may say at most. */
export const retentionDaysMax = retentionDaysByPlan.scale
export const botRetentionDays = 180
/** What a downgrade or a lapse hides is deleted only after so many days. */
export const lapsedGraceDays = 30
/** Nothing is deleted by age while clocks of the pipeline and the stores are further apart: one of them has run away. */
export const deletionClockOffMaxMs = 1 * hour
/** Visitor salts are deleted after so long. */
export const saltKeepMs = 48 * hour
/** How often ingest looks after its salts, and tries again while Postgres doesn't answer. */
export const saltSweepMs = 10 * minute
export const saltRetryMs = 5 * second
/** An erasure is known for so long: nothing comes in that was answered before it. */
export const erasureKeepMs = 30 * day
/** A manifest is known to be shipped for so long: no node comes back with an older one. */
export const shippedManifestKeepMs = 30 * day

/** Names that people give, in Unicode code points. */
export const workspaceNameLengthMax = 120
export const apiKeyNameLengthMax = 120

/** A longer line is no line of an access log, and is dropped. */
export const logLineBytesMax = 64 * KiB
/** Rows of one insert of an import: their ids are asked about in one query. */
export const importRowsMax = 20_000

/** What `svc doctor` finds wrong. Its looks at one thing, and at one page of ingest, take no longer than this. */
export const examinationDeadlineMs = 20 * second
export const probeDeadlineMs = 5 * second
/** Clocks of the machines: between two events of a visitor seconds matter; a minute moves events into another hour. */
export const clockOffWarnMs = 1 * second
export const clockOffFailMs = 60 * second
/** Rows are in the stores within seconds: what is behind for longer than this doesn't move. */
export const backlogWarnMs = 1 * minute
export const marksBehindWarnMs = 10 * minute
export const replicaBehindWarnMs = 5 * minute
/** Merging needs room for the parts that it replaces. */
export const storeDiskFreeBytesMin = 1024 * MiB
export const storeDiskFreeShareWarn = 0.1
/** Inserts that a table of rows knows again by their token. At eight a second, 20 minutes: ten times an insert's deadline. */
export const insertTokensKnownMin = 10_000
