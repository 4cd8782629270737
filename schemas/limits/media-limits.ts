/** Bounds of media and of the forms that bring them. How large an image and a video may be is a setting each. */
import { hour, KiB, minute, second } from './units.ts'

export const altTextLengthMax = 1000
export const originalFilenameLengthMax = 1000
/** The name that we give a file: some systems take no more. */
export const filenameLengthMax = 200
/** A picture of more takes a reader's memory: 250 megapixels are a gigabyte. The largest cameras of phones have 200. */
export const imagePixelsMax = 250_000_000
/** Uploads leave four times as much of the disk free as ingest needs: they can't make it refuse events. */
export const uploadsLeaveFree = 4
/** Titles of posts that are shown of one asset, the newest. */
export const mediaTitlesMax = 20
/** A form: all but its file, its parts, the head of a part, one field. */
export const formOverheadBytesMax = 256 * KiB
export const formPartsMax = 20
export const formHeadBytesMax = 16 * KiB
export const formFieldBytesMax = 16 * KiB
/** Deadlines of an upload: the longest silence of the sender, and the whole upload. */
export const uploadStallMs = 10 * second
export const uploadDeadlineMs = 15 * minute
/** Files that one process takes at a time, each with about a megabyte of memory; beyond it 503. */
export const uploadsAtOnceMax = 32
/** Uploads that one workspace has under way at a time, so that it leaves room for others. */
export const workspaceUploadsAtOnceMax = 16
/** Unreferenced files: how often they are deleted, how many with one query, and from which age. */
export const mediaSweepMs = 1 * hour
export const mediaSweepFilesEach = 500
export const mediaOrphanAgeMs = 1 * hour
/** A draft of another machine is deleted after this long without a write. */
export const mediaDraftAgeMs = 1 * hour
/** How long a link holds by which a platform fetches a file: an attempt to publish takes ten minutes at most. */
export const mediaLinkMs = 1 * hour
