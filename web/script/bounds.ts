/** Bounds of the script, and of what the server takes: longer texts are cut, or it would refuse the event. */

/** Fields of a stored event, in characters. */
export const nameLengthMax = 120
export const titleLengthMax = 500
export const urlLengthMax = 2048
export const textLengthMax = 100

/** An event as JSON. It is more than the server takes: a longer one is dropped, as its whole batch would be refused. */
export const eventCharactersMax = 24e3

/** Events that wait in memory, that are kept in storage, and of one request: it may hold the longest, at 3 bytes a character. */
export const queueMax = 1000
export const storedMax = 50
export const batchMax = 14
/** Events that happen together go together, and tabs that were opened together have seen what the others stored. */
export const delayMs = 250
export const deadlineMs = 3e4
export const backoffSecondsMax = 300
/** Browsers hold requests that outlive their page to 64 KiB together: 20,000 characters are at most 60,000 bytes. */
export const keepaliveCharactersMax = 2e4

/** The second file is asked for again so long after its first failure, and later after each further one. */
export const lateRetryMs = 1e4

/** Routes set their title after their address, and a script that comes from a cache may run before the page's is read. */
export const titleMs = 50

/** A search of a single-page app counts once its address has stayed for so long. */
export const settledMs = 1e3

export const sessionIdleMsMax = 18e5
export const sessionMsMax = 864e5
export const sessionStartMs = 1e4
/** A link that was copied and passed on must not make two people one. */
export const journeyMsMax = 12e4

/** Replay: a chunk is sent after so long, or when its events have so many characters as JSON. */
export const chunkMs = 5e3
export const chunkCharactersMax = 4e5
/** A recording ends after so long without its visitor, and at the latest after so long or so many characters as sent. The next
 * begins with another session, which is looked for each `nextSessionMs`. */
export const replayIdleMs = 18e5
export const replayMsMax = 36e5
export const replayCharactersMax = 1e7
export const nextSessionMs = 1e3
/** Elements of a page that is recorded: the snapshot of a larger one holds the page for seconds, and ingest refuses 50,000. */
export const elementsMax = 2e4
/** A chunk as sent, below the server's bound; a page that is larger isn't recorded. */
export const packedCharactersMax = 1e6
/** Tries of a chunk, and characters of all chunks that wait, as JSON: beyond either the recording ends. */
export const chunkTriesMax = 5
export const waitingCharactersMax = 8e6
/** Bytes of a last chunk that still fit into a beacon, unpacked. */
export const lastChunkBytesMax = 45e3
