/** Bounds of ingest: its caches and look-ups, and the tables that its threads hold. */
import { hour, KiB, MiB, minute, second } from './units.ts'

/** Entries of ingest's caches: parsed user agents, hosts, proxy addresses, visitors without an id, places of addresses, decoded records of the database. */
export const agentCacheMax = 20_000
export const hostCacheMax = 20_000
export const addressCacheMax = 20_000
export const visitorCacheMax = 100_000
export const countryCacheMax = 100_000
export const placeRecordCacheMax = 20_000
/** Look-ups of unknown keys that run at once, and how long a request waits for one; beyond either 503. */
export const keyLookupsMax = 16
export const keyLookupMs = 2.5 * second

/**
 * Headers of a request that the front of `npm start` hands to ingest, before it adds two. uWebSockets.js leaves more than 98
 * without an answer.
 */
export const trackingHeadersMax = 90

/**
 * Links that an ingest thread caches, and the bytes of their destinations and previews (one destination may have 30 KB). Each poll rereads the
 * changes within the overlap, because a transaction that began earlier may have committed later.
 */
export const linkTableMax = 100_000
export const linkTableBytesMax = 64 * MiB
export const linkOverlapMs = 1 * minute
/**
 * Passwords of links: tries at one link within the window, of one network and of all. A right one counts no longer. A
 * node of ingest counts for all of its threads, over at most so many networks and links.
 */
export const linkPasswordTriesMs = 15 * minute
export const linkPasswordTriesOfNetworkMax = 10
export const linkPasswordTriesMax = 200
export const linkPasswordTriedMax = 100_000
/** An ingest thread compares one password at a time: each takes some 20 ms of a core. As many wait, beyond them 503. */
export const linkPasswordsWaitingMax = 20
/**
 * Bytes and parameters of a short URL's query that its destination gets: click ids and campaigns of advertising take a few
 * hundred. With a destination of the greatest length there is less room, so a header is never longer than without one.
 */
export const passedQueryBytesMax = 2_048
export const passedParametersMax = 50
/** The form with a password and a referrer, each character of which may take nine bytes. */
export const linkFormBytesMax = 24 * KiB
/** Forms that are arriving and aren't whole, together. */
export const linkFormsArrivingBytesMax = 1 * MiB
/**
 * Posts that an ingest thread caches. Each poll rereads the ids within the overlap, because a transaction that took its
 * id earlier may have committed later.
 */
export const postTableMax = 100_000
export const postOverlap = 1_000

/** Tracking keys: how often the table is polled besides notifications, and how long "no such key" is cached. */
export const keyPollMs = 5 * second
/** Rows of a deleted workspace stay until every node has read, by polling at the latest, that its keys and links are gone. */
export const workspaceDeletionGraceMs = 2 * keyPollMs
export const unknownKeyCacheMs = 2 * second
export const unknownKeyCacheMax = 10_000

/** Age at which visitor salts are deleted. */
export const saltKeepMs = 48 * hour
/** How often ingest reads and deletes salts, and retries while Postgres doesn't answer. */
export const saltSweepMs = 10 * minute
export const saltRetryMs = 5 * second
