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
/** How often it is published up to where a node's events are stored: a small write to Postgres each time. */
export const markIntervalMs = second
/** The largest segment number whose ids stay exact in JSON. */
export const segmentNumberMax = 2 ** 36 - 1

/** Deadlines of outside calls. */
export const postgresDeadlineMs = 5 * second
export const redisDeadlineMs = 2 * second
export const clickhouseQueryDeadlineMs = 15 * second
export const clickhouseInsertDeadlineMs = 120 * second
export const clickhouseQueryMemoryMax = 4 * 1024 * MiB

/**
 * The aggregator: how often it looks for new rows. A run costs ClickHouse some tenths of a second of CPU however few they are;
 * readers take from the raw rows what it hasn't seen yet.
 */
export const aggregateEveryMs = 15 * second
/** More often, where more than these rows come in that time: readers take so many in at each question. */
export const aggregateRowsPerRun = 20_000
/** So many times as long as a run took it pauses at least. */
export const aggregatePausePerRun = 2
export const aggregateEveryLeastMs = 2 * second
/** What it takes up in one run, and so commits together: after a long outage or an import the rest comes with the next one. */
export const aggregateRunRowsMax = 20_000_000
/** One statement of it: larger ones are divided. */
export const aggregateStatementRowsMax = 2_000_000
export const aggregateStatementDaysMax = 60
export const aggregateDeadlineMs = 110 * second
export const aggregateMemoryMax = 2 * 1024 * MiB
/** Threads of one statement: readers come first. */
export const aggregateThreadsMax = 1
/** How nice threads of ClickHouse are that nobody waits for, where it may say so (CAP_SYS_NICE): as of `nice`, 0 to 19. */
export const backgroundNiceness = 14
/** Whoever aggregates has the work to itself; when it dies, others take it over after this. */
export const aggregateClaimMs = 20 * second
/** Hours recorded to be computed anew that one run looks at, and the days that they may be of. */
export const aggregateRepairsMax = 2_000
/** Every manifest that comes back after a power loss tells of its hours: so many tellings are taken together. */
export const aggregateRepairRowsMax = 100_000
export const aggregateRepairDaysMax = 30
/** Hours of workspaces of one UTC day that are computed anew one by one: of more, all of the day is. */
export const aggregateKeysPerDayMax = 500
/** So many generations of one level and day are merged into one of the next. */
export const aggregateMergeWidth = 8
/** A day with unmerged generations below this level is going on: readers don't keep what its hours come to by themselves. */
export const aggregateSettledLevel = 2
/** A day gets rows of the whole day so long after its end, and again once no late rows have come for a while or too many. */
export const aggregateDayOverMs = 2 * hour
export const aggregateDayQuietMs = 10 * minute
export const aggregateDayGenerationsMax = 64
/** Whole days that are merged into a block, which begins at a multiple of its size; each size a multiple of the one before. */
export const aggregateBlockDays = [4, 16, 64] as const
/** The last days that are over, as one block of their own: in every zone a month up to now has them all. */
export const aggregateMonthDays = 28
/** Of so many hours computed anew a day is merged at once: every reader goes through their list. */
export const aggregateDayResetsMax = 200
/** For how long a run merges before it looks for new rows again. */
export const aggregateMergeMs = 10 * second
/** Generations that left the list are deleted after so long, those that never were on it after … */
export const aggregateLeftKeepMs = 10 * minute
export const aggregateUnlistedKeepMs = 1 * hour
/** How often, how many at a time; and how often rows of closed days are: their partitions are shared. */
export const aggregateSweepMs = 1 * minute
export const aggregateSweepMax = 500
export const aggregateClosedDeletionMs = 1 * hour
/** So many conversions are named in the statement that credits them; more are found by it. */
export const foundConversionsMax = 10_000
/** Rows that the aggregates lack and an overview reads once for all its statements, and as many others of their sessions. */
export const rowsAtHandMax = 1_000
/** The same for the parts of hours that a range and the one before begin and end with, their sessions' other rows included. */
export const edgeRowsAtHandMax = 10_000
/** Rows of a whole hour that are remembered: of days that are over, or asked for twice, or once nothing was committed for so long. */
export const edgeHourRowsMax = 200_000
export const edgesAtRestMs = 1 * minute
/** Where they were more, they aren't looked for again for so long. */
export const crowdedForMs = 1 * minute
export const crowdedWorkspacesMax = 10_000
/**
 * Of more, an overview shows what was known last of sessions (bounces, durations, sources, devices, entry pages), if that is so
 * long ago at most. All else is counted to the last event, unless even more wait: that would keep the machine behind.
 */
export const aggregatesKeepUpMs = 5 * minute
/** Up to so many are read once for these, each with what single rows count for; of more, every statement reads what it needs. */
export const alikeRowsAtHandMax = 40_000
export const pendingRowsCountedMax = 100_000
/** Raw rows that one thread goes through for a statement of an overview; of more, ClickHouse takes as many threads as it likes. */
export const overviewRowsPerThread = 200_000
/** Differences between aggregates and raw rows that are listed. */
export const aggregateDifferencesMax = 1_000
/** With so few workspaces a statement names them, and reads their rows only. */
export const aggregateWorkspacesNamed = 1_000

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
export const overviewRowsDefault = 10
export const overviewRowsMax = 100
export const recentEventsMax = 50
/** Series: hour buckets up to, day buckets up to; weeks beyond. */
export const hourBucketsSpanMs = 72 * hour
export const dayBucketsDaysMax = 120

/** Equal questions for an overview within so long of each other get one answer: that much older than they could be. */
export const overviewReuse = { leastMs: 200, mostMs: 1 * second }
/**
 * What is asked a second time within so long is asked again, as open dashboards do. For as long after the last time it is
 * read ahead when the aggregates have changed, no sooner than so long after it was asked or read ahead: questions, of which
 * those that were asked last are kept.
 */
export const warmedForMs = 30 * second
export const warmAgainMs = 2 * second
export const warmedQuestionsMax = 64
/** Until that has been done, an answer goes by aggregates that are older by so much at most: a commit, not many rows. */
export const warmedAgeMaxMs = 20 * second
/** How often it is looked whether there is any to be read ahead; how long each waits, at most, while answers are awaited. */
export const warmCheckMs = 250
export const warmWaitMaxMs = 200
/** Keys of a list that are taken from one place (aggregates of days, of hours, raw rows), those with most: no other comes to the top. */
export const overviewKeysMax = 5_000
/** What an API process remembers of closed periods: bytes of all answers, and of the largest one. */
export const rememberedBytesMax = 384 * 1024 * 1024
export const rememberedAnswerBytesMax = 48 * 1024 * 1024
/** Readers look for a newer snapshot of the aggregates this often, and use an old one, when Postgres is away, for so long. */
export const snapshotRefreshMs = 500
/** Well below the time that generations are kept after they have been replaced. */
export const snapshotAgeMaxMs = 5 * minute

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
