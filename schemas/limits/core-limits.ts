/**
 * Bounds of events, storage and figures, each with its unit and reason. They are part of the interface or of a durable
 * format. What an operator may change is a setting (runtime/settings.ts). The API's own bounds stand in api-limits.ts.
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
/** Deeper nesting, or a number literal with more digits, is refused before parsing. */
export const jsonDepthMax = 64
export const jsonNumberDigitsMax = 400
/** Bytes of one value that a 422 echoes. Longer texts are cut; longer objects and lists are omitted. */
export const errorInputBytesMax = 1 * KiB
/** A body must arrive whole within this time: a slow client can't hold memory for longer. */
export const bodyDeadlineMs = 10 * second
/** Bytes of all unfinished bodies that a thread receives, together; beyond it 503. */
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

/** Entries of ingest's caches: parsed user agents, hosts, proxy addresses, visitors without an id, countries of addresses. */
export const agentCacheMax = 20_000
export const hostCacheMax = 20_000
export const addressCacheMax = 20_000
export const visitorCacheMax = 100_000
export const countryCacheMax = 100_000
/** Look-ups of unknown keys that run at once, and how long a request waits for one; beyond either 503. */
export const keyLookupsMax = 16
export const keyLookupMs = 2.5 * second

/** Events older than this are refused by the public interface; older data comes in by the local import only. */
export const eventAgeMaxMs = 72 * hour
/** A sender's clock may be wrong by so much; otherwise `sent_at` doesn't correct `occurred_at`. */
export const clockSkewMaxMs = 72 * hour

/** A conversion is credited only to touches of at most this age. */
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
/** How long a loader that is behind collects segments for one insert. */
export const gatherWhileBehindMs = 5 * second
/** Claims of one call to Redis. The call blocks other clients for about 5 ms. */
export const claimsPerCallMax = 2000
/** Bytes of one group commit; beyond it requests get 503 until the group is synced. */
export const groupBytesMax = 16 * MiB
export const logFileBytes = 64 * MiB
/** Pause between attempts to make a new log file, and the number of attempts after which a failed group is answered 503. */
export const logFileRetryMs = 500
export const logFileTriesBeforeAnswer = 9
/** A retired log file is recycled after this time. Until then its rows can be loaded again after a power loss. */
export const retiredFileKeepMs = 10 * minute
/** Bytes of all retired files together. */
export const retiredBytesMax = 4 * 1024 * MiB
/** Segment numbers of one lease: at 8 segments a second they last more than a day. */
export const segmentLeaseSize = 1_000_000
/** Numbers reserved from the lease file with one sync. */
export const segmentReserveSize = 256
/**
 * How often a node writes its marks to Postgres. After a load it writes them at once, but at least `markSpacingMs` after
 * the last time.
 */
export const markIntervalMs = 0.5 * second
export const markSpacingMs = 250
/** The largest segment number whose ids stay exact in JSON. */
export const segmentNumberMax = 2 ** 36 - 1

/** Deadlines of outside calls. */
export const postgresDeadlineMs = 5 * second
export const redisDeadlineMs = 2 * second
export const clickhouseQueryDeadlineMs = 15 * second
/** All statements of one answer together: while ClickHouse hangs, the API answers 503 within five seconds. */
export const clickhouseAnswerDeadlineMs = 3.5 * second
export const clickhouseInsertDeadlineMs = 120 * second
export const clickhouseQueryMemoryMax = 4 * 1024 * MiB

/** Interval between the starts of two folds. The pause between them is at least as long as the last one took. */
export const foldEveryMs = second
/** How often the pipeline looks for days to close, and for builds to start or delete. */
export const closeDaysEveryMs = 10 * second
export const keepBuildsEveryMs = 5 * second
/** A build of figures that failed is tried again so much later. */
export const buildRetryMs = 60 * second
/** Events of one fold. After an outage or an import, the next fold takes the rest. */
export const foldEventsMax = 200_000
/** Events of one part of a build, roughly: a part is read at once. */
export const buildPartEventsMax = 500_000
/** Visitors of one look-up of a fold: their hours are bound as parameters of one statement. */
export const visitorsPerLookUpMax = 20_000
/**
 * So few visitors share one, though the days of their new events differ by up to so many: a statement costs more than to
 * derive their rows of some days more.
 */
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
/** Conversions of a session and local day that keep their own times. Further equal ones count at the first one's time. */
export const creditsApartMax = 100
/** Cells keep only the largest keys of each kind of a local day; `metrics.lists_cut` is true where there were more. */
export const cellKeysMax = 2_000
/** Session rows that one statement turns into cells, roughly. */
export const cellSessionsPerStatement = 500_000
/** Browsers of one contact, those identified first. Further ones stay visitors of their own. */
export const browsersPerContactMax = 200
/** Inbox rows of one transaction of the merge. */
export const inboxRowsPerMerge = 2_000
/** Merge transactions between two folds. */
export const mergesPerRoundMax = 5
/** Work items on people of one round, and contacts of one statement. */
export const peopleWorkMax = 2_000
export const contactsPerStatement = 500
/** Only a contact's newest conversions are credited to its touches; older ones by their own browser or event. */
export const personCreditsPerContactMax = 10_000
/** Conversions for which one statement reads what they are credited to, roughly. */
export const conversionsPerLookUp = 5_000
/** Events for webhooks of one statement: at 16 KB of properties each it stays well within its deadline. */
export const outboxRowsPerStatement = 500
/** Rows of an abandoned build are deleted after this time: by then no reader uses it. */
export const leftBuildKeepMs = 10 * minute

/**
 * Links that an ingest thread caches, and the bytes of their destinations (one may have 30 KB). Each poll rereads the
 * changes within the overlap, because a transaction that began earlier may have committed later.
 */
export const linkTableMax = 100_000
export const linkTableBytesMax = 64 * MiB
export const linkOverlapMs = 1 * minute
/**
 * Posts that an ingest thread caches. Each poll rereads the ids within the overlap, because a transaction that took its
 * id earlier may have committed later.
 */
export const postTableMax = 100_000
export const postOverlap = 1_000
/** Bytes of a click's row in the log: its referrer, and short names. */
export const linkClickBytesMax = 16 * KiB

/** Tracking keys: how often the table is polled besides notifications, and how long "no such key" is cached. */
export const keyPollMs = 5 * second
/** Rows of a deleted workspace stay until every node has read, by polling at the latest, that its keys and links are gone. */
export const workspaceDeletionGraceMs = 2 * keyPollMs
export const unknownKeyCacheMs = 2 * second
export const unknownKeyCacheMax = 10_000

/** How long a secret key is cached. Together with a look-up this stays under the 5 s that revoking may take. */
export const apiKeyCacheMs = 2 * second
export const apiKeyCacheMax = 10_000
/** How often the last use of a key is recorded. */
export const apiKeyTouchMs = 1 * minute
/** How long the API's health waits for a store. */
export const healthDeadlineMs = 2 * second

/** `Retry-After` in seconds: of a 503, and of a 429 for a tracking key, whose limit is per second. */
export const retryAfterSeconds = 5
export const rateRetryAfterSeconds = 1

/** The analytics overview. */
export const overviewDaysMax = 365
export const overviewDaysDefault = 30
export const overviewHoursMax = 744
export const overviewRangeDaysMax = 366
/** Buckets of a series whose interval was asked for. */
export const bucketsMax = 2_000
export const overviewRowsDefault = 10
export const overviewRowsMax = 1_000
/** Rows of one breakdown: ten pages of 100. */
export const breakdownRowsMax = 1_000
/** Filters: values of one filter, the length of a value and its `*`, and sources that a channel filter may match. */
export const filterValuesMax = 20
export const filterTextLengthMax = 2_048
export const filterWildcardsMax = 10
export const channelSourcesMax = 10_000
/** Conversions of one answer, and touches of each. */
export const conversionsDefault = 50
export const conversionsMax = 200
export const touchesOfConversionMax = 20
/** Attempts at an overview when its cells are rewritten during the reading. */
export const overviewAttemptsMax = 3
export const recentEventsMax = 50
/** A series has hour buckets up to the first span, day buckets up to the second, then weeks. */
export const hourBucketsSpanMs = 72 * hour
export const dayBucketsDaysMax = 120

/** How long identical overview requests share one answer; it may be that much older. */
export const overviewReuse = { leastMs: 200, mostMs: 1 * second }
/** People: rows of a page, events of a journey, letters of a search. */
export const peopleDefault = 100
export const peopleMax = 250
export const journeyEventsDefault = 200
export const journeyEventsMax = 500
export const peopleSearchLengthMax = 200
/** Days of readable data by plan, and days that a bot visit is kept. */
export const retentionDaysByPlan = { starter: 30, growth: 180, scale: 730 } as const
/** The longest: the bound of a workspace's own setting. */
export const retentionDaysMax = retentionDaysByPlan.scale
export const botRetentionDays = 180
/** Data that is hidden by a downgrade or the end of a plan is deleted after this many days. */
export const lapsedGraceDays = 30
/** If the clocks of pipeline and stores differ by more, one is wrong, and nothing is deleted by age. */
export const deletionClockOffMaxMs = 1 * hour
/** Visitor salts are deleted after so long. */
export const saltKeepMs = 48 * hour
/** How often ingest reads and deletes salts, and retries while Postgres doesn't answer. */
export const saltSweepMs = 10 * minute
export const saltRetryMs = 5 * second
/** How long an erasure is remembered. Events that were answered before it arrive within this time. */
export const erasureKeepMs = 30 * day
/** How long a shipped manifest is remembered. No node returns with an older one. */
export const shippedManifestKeepMs = 30 * day

/** Names that people give, in Unicode code points. */
export const workspaceNameLengthMax = 120
export const apiKeyNameLengthMax = 120

/** Longer lines of an access log are dropped. */
export const logLineBytesMax = 64 * KiB
/** Rows of one insert of an import. One query looks up their ids. */
export const importRowsMax = 20_000

/** Deadlines of `svc doctor`: of one examination, and of one request to ingest. Below stand the thresholds of its findings. */
export const examinationDeadlineMs = 20 * second
export const probeDeadlineMs = 5 * second
/** Differences of clocks: seconds change the order of a visitor's events, a minute moves events into another hour. */
export const clockOffWarnMs = 1 * second
export const clockOffFailMs = 60 * second
/** Rows reach the stores within seconds: a longer backlog is stuck. */
export const backlogWarnMs = 1 * minute
export const marksBehindWarnMs = 10 * minute
export const replicaBehindWarnMs = 5 * minute
/** Free disk of a store: a merge needs room for the parts that it replaces. */
export const storeDiskFreeBytesMin = 1024 * MiB
export const storeDiskFreeShareWarn = 0.1
/** Insert tokens that a table remembers. At eight inserts a second they last 20 minutes, ten times an insert's deadline. */
export const insertTokensKnownMin = 10_000
