/**
 * Bounds of the event log and of its shipping. Two are part of durable formats, and never change: `segmentRowsMax`, by
 * which ids are computed, and `segmentLeaseSize`, by which kept leases are read.
 */
import { day, hour, MiB, minute, second } from './units.ts'

/** The event log. A row's id is segment number × 2^17 + its index in the segment. */
export const segmentRowsMax = 2 ** 17
/** A larger segment is sealed. As large as one insert, so that a full segment is one. */
export const segmentBytesMax = 16 * MiB
/** An older segment is sealed, even if it is small. Figures wait for it; a shorter time makes more and smaller inserts. */
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
/**
 * How long a file is written, and how long one that was filled with zeros is reused. So rows of an erased person leave the log
 * after twice this time and `retiredFileKeepMs` at the latest.
 */
export const logFileAgeMaxMs = 6 * hour
/** How often files and spare files are looked at for their age. */
export const logFileAgeCheckMs = 1 * minute
/** Bytes of the retired files of one stream, over all its folders. */
export const retiredBytesMax = 4 * 1024 * MiB
/** Room that a node's start waits for: its leases and its copies of tables, beside the log. */
export const startBytesMin = 1 * MiB
/** Segment numbers of one lease: at 16 segments a second, of four streams, they last 17 hours. */
export const segmentLeaseSize = 1_000_000
/** Ids of the rows of one lease. */
export const idsPerLease = segmentLeaseSize * segmentRowsMax
/**
 * Leases that are passed over after a restore of Postgres, above the last one that is known. A node may hold others
 * that it took since the backup. They are few, however old the backup is. A writer holds one unused lease, and used
 * ones are known from ids in ClickHouse. So this is enough for a thousand writers. Where both stores were restored, it
 * must hold all leases taken since: those of ten writers at full load for 70 days. Numbers below 2^36 are 68,719
 * leases, so a restore costs 1.5 % of them.
 */
export const leasesSkippedByRestore = 1_000
/** Numbers of contacts, links and the like that are passed over then: more than are made between two backups. */
export const numbersSkippedByRestore = 1_000_000
/** Numbers reserved from the lease file with one sync. */
export const segmentReserveSize = 256
/** Data that was set aside is deleted after this time, because it may tell of people; how often that is looked for. */
export const setAsideKeepMs = 30 * day
export const setAsideSweepMs = 1 * hour
/**
 * How often a node writes its marks to Postgres. After a load it writes them at once, but at least `markSpacingMs` after
 * the last time.
 */
export const markIntervalMs = 0.5 * second
export const markSpacingMs = 250
/** The largest segment number whose ids stay exact in JSON. */
export const segmentNumberMax = 2 ** 36 - 1

/** How long a shipped manifest is remembered. No node returns with an older one. */
export const shippedManifestKeepMs = 30 * day

/** Rows of one insert of an import. One query looks up their ids. */
export const importRowsMax = 20_000
