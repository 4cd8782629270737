/** Bounds of the company profile: requests, kept texts, and the time that generating takes. */
import { KiB, MiB, second } from './units.ts'

export const profileSourcesMax = 10
export const profileUrlLengthMax = 2_048
/** Deadlines of one request, and of all requests for a profile together, which leaves time to write it within 30 s. */
export const profileRequestMs = 5 * second
export const profileFetchingMs = 22 * second
/** How long it then waits for its visits in ClickHouse, which it can do without. */
export const profileVisitsMs = 5 * second
export const profileRedirectsMax = 3
export const profilePageBytesMax = 2 * MiB
/** How much of a page is read, so that none holds the pipeline up. Browsers nest no deeper either. */
export const pageTagsMax = 30_000
export const pageAttributesMax = 60_000
export const pageDepthMax = 512
/** Letters of its structured data: lists in it are gone through whole. */
export const pageDataLengthMax = 256 * KiB
/** Style sheets of all pages together, and bytes of one. */
export const profileStyleSheetsMax = 8
export const profileStyleBytesMax = 512 * KiB
export const robotsBytesMax = 500 * KiB
/** Letters of its rules times letters of a path. A path of 100 letters is matched with all rules that its bytes can hold. */
export const robotsStepsMax = 50_000_000
/** RFC 9309 wants five redirects followed. */
export const robotsRedirectsMax = 5
/** Profiles that one pipeline generates at a time: one whose sources hang holds up no other. */
export const profilesAtOnce = 4
/** How often the pipeline looks for profiles, for how long one has a profile to itself, and how often it is tried. */
export const profileEveryMs = 1 * second
export const profileClaimMs = 60 * second
export const profileAttemptsMax = 5
/** Texts of each kind that are kept of a page, and the length of one. */
export const pageTextsMax = 200
export const pageTextLengthMax = 400
/** Entries of a profile's lists, features apart, and characters of its context. */
export const profileListMax = 8
export const profileFeaturesMax = 20
export const contextLengthMax = 4_000
/** Own data that is looked at. */
export const profileSignalDays = 90
export const profileLinksMax = 10
export const profileMediaMax = 100
