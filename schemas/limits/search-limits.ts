/** The bounds of search terms from Google Search Console, with their unit and reason. */
import { day, hour, KiB, MiB, minute, second } from './units.ts'

/** Sites that a workspace connects: more subdomains are one domain property. */
export const searchSitesMax = 10
/** UTF-16 units of a property's name: as many as a URL has. */
export const searchSiteLengthMax = 2_048
/** A service account's key as Google gives it has 2.4 KiB. */
export const searchCredentialsBytesMax = 16 * KiB
/** Months that Search Console keeps. */
export const searchMonthsMax = 16
/** Days since 1970: the last one of ClickHouse's column, in the year 2149. */
export const searchDayMax = 65_535
/** Interval between complete pulls of a site, and by what part of it one may come earlier. */
export const searchEveryMs = day
export const searchJitterShare = 0.05
/** Interval at which due sites are looked for. */
export const searchLookEveryMs = 10 * second
/** Sites that a process pulls together. */
export const searchSitesAtOnce = 2
/** Days that one turn pulls, and the time after which it begins no other: other sites come in between. */
export const searchDaysEach = 60
/** Days that are held in memory, and stored together. */
export const searchDaysPerInsert = 10
export const searchTurnMs = 5 * minute
/** Time until another process may pull a site whose process has died. */
export const searchLeaseMs = 30 * minute
/** Deadline of one request, and the size of its answer: a row has some 300 bytes. */
export const searchRequestMs = 30 * second
export const searchAnswerBytesMax = 32 * MiB
/** Rows of one request: the most that Google gives. */
export const searchRowsEach = 25_000
/** Rows that are read of a list of a day: the most that Google has. */
export const searchRowsReadMax = 50_000
/** Rows that are kept of a day: queries, pages, and queries of pages. */
export const searchQueriesKept = 2_000
export const searchPagesKept = 2_000
export const searchPairsKept = 5_000
/** UTF-16 units that are kept of a query or a page. */
export const searchTextLengthMax = 2_048
/** Delay after a pull that failed. Google asks for a quarter of an hour where a quota is used up. */
export const searchRetryFirstMs = 15 * minute
export const searchRetryMaxMs = 6 * hour
/** A `Retry-After` that is believed. */
export const searchHoldMaxMs = day
/** Rows of a list of an answer. */
export const searchListRowsDefault = 10
export const searchListRowsMax = 1_000
