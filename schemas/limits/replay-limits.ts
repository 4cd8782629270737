/** Bounds of replay: recording in browsers, chunks on their way, and reading back. */
import { hour, KiB, MiB } from './units.ts'

/** Body of a chunk, in bytes; beyond it 413. */
export const replayBodyBytesMax = 1 * MiB
/** A chunk's events as JSON: a snapshot of a large page has 3 MB. */
export const replayJsonBytesMax = 8 * MiB
/**
 * A chunk unpacks to at most 100 times its packed bytes, and 64 KiB. JSON of a page shrinks to a tenth, a list of
 * nothing to a thousandth.
 */
export const replayUnpackRatioMax = 100
export const replayUnpackBesideBytesMax = 64 * KiB
export const replayEventsMax = 20_000
/** Objects, lists and commas of a chunk: parsing takes time for each. A page of 20,000 elements has some 200,000. */
export const replayNodesMax = 400_000
/** A node of a page is an object in a list, so that a page may be 500 elements deep. */
export const replayDepthMax = 1_024
/** A chunk is sent every few seconds. A page that a browser had put to sleep may go on with it later. */
export const replayChunkMsMax = 2 * hour
/** Chunks of one page load. An hour of five-second chunks is 720. */
export const replaySequenceMax = 5_000
export const replayPageIdLengthMax = 64
/** Bytes of a chunk's row in the log: the events as they were sent, and short texts. */
export const replayRowBytesMax = 1.25 * MiB

/** Bytes that a thread of ingest takes of one session, in chunks as they are sent. The recorder ends at 10 MB. */
export const replaySessionBytesMax = 16 * MiB
/** Sessions whose bytes a thread remembers. */
export const replaySessionsCountedMax = 50_000
/** Bytes that a thread takes of one tracking key in a second. */
export const replayBytesPerSecondMax = 4 * MiB
/** The same of their JSON, which is counted before it is parsed. */
export const replayJsonBytesPerSecondMax = 40 * MiB
/** Nodes that a thread parses of one tracking key in a second: 400,000 small objects take 170 ms. */
export const replayNodesPerSecondMax = 400_000
/** The same of all keys together. */
export const replayThreadNodesPerSecondMax = 800_000
/** Chunks that a thread unpacks at once; beyond it 503. */
export const replayUnpackingMax = 8

/** A session of svc.js lasts a day at most: so far back lies the first chunk of one that still goes on. */
export const replaySessionMsMax = 24 * hour
/** Replays of a page of the list. */
export const replaysDefault = 50
export const replaysMax = 200
/** Chunks of a page of a replay, and their events as JSON: a page ends before the chunk that would exceed it. */
export const replayChunksDefault = 50
export const replayChunksMax = 200
export const replayPageBytesMax = 8 * MiB
/** Filters of the list. */
export const replayDurationSecondsMax = 24 * 3_600
