/** Bounds of the browser script as it is served, and of its measurements. */
import { KiB } from './units.ts'

/** How long browsers and caches keep the script, and its second file, whose address changes with it. */
export const scriptMaxAgeSeconds = 3_600
export const lateScriptMaxAgeSeconds = 31_536_000
/** The same for the answer to a key that isn't known, or can't be looked up. */
export const unsureScriptMaxAgeSeconds = 60
/** Cached compressed texts, one per key and flags: 12 KB each. */
export const scriptVariantsMax = 1_000
/** Bytes by gzip of the script, of both files, and of both where the second has all that a snippet may ask for. */
export const scriptGzipBytesMax = 3_000
export const scriptsGzipBytesMax = 7_168
export const scriptsWithOptionalGzipBytesMax = 8 * KiB

/** Script and style of the dashboard up to its first chart, by gzip. */
export const dashboardGzipBytesMax = 90 * KiB
