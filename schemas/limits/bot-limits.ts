/** The bounds of telling crawlers apart: checks of their addresses, lists of addresses, and lists of visits. */
import { day, hour, KiB, second } from './units.ts'

/** Bounds of one request: how long its answer waits for DNS, and how many addresses are looked up. */
export const dnsWaitMs = 300
export const dnsLookUpsPerRequestMax = 50
/** Look-ups of a thread under way; more aren't begun, and their visits are stored unverified. */
export const dnsLookUpsAtOnceMax = 64
/** Answers of a thread that wait for DNS; beyond it they go out at once, unverified. */
export const dnsWaitingRequestsMax = 64
/** One question to a DNS server. It may take longer than an answer waits: the next visit uses a late result. */
export const dnsQuestionMs = 1_500
/** Names of one address that are looked at: a real crawler's has one. */
export const dnsNamesMax = 5
/** Cached results for addresses, and how long each is kept: a confirmed name, a definite no, no answer. */
export const dnsKnownMax = 50_000
export const dnsConfirmedKeepMs = 12 * hour
export const dnsDeniedKeepMs = 1 * hour
export const dnsFailedKeepMs = 30 * second

/** A published list of addresses: the largest is some 100 KB with 1,500 ranges. */
export const addressListBytesMax = 4 * 1024 * KiB
export const addressRangesMax = 50_000
/** A wider range is a mistake: it would verify everybody. */
export const addressPrefixLeast = { ipv4: 8, ipv6: 16 } as const
/** An address outside of an older list than this may be a new one: such a list confirms, and refutes nothing. */
export const addressListRefutesMs = 365 * day
/** Where newer lists lie within the data folder. */
export const botListsFolder = 'bot-addresses'
/** How often ingest looks for newer lists. */
export const addressListPollMs = 5 * second
/** Lists that are got at a time. */
export const addressListsAtOnceMax = 6
/** Getting one list, redirects included. */
export const addressListFetchMs = 20 * second
export const addressListRedirectsMax = 3

/** Rows of the lists of GET /v1/analytics/bots. */
export const botRowsDefault = 200
export const botRowsMax = 1_000
