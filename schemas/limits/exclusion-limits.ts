/** The bounds of the rules by which traffic is left out, with their unit and reason. */

/** Entries of each list. Ingest holds the rules of all workspaces in memory, and reads them with the tracking keys. */
export const exclusionsMax = 100
/** Unicode code points of a path's pattern: far more than paths have, as a rule. */
export const excludedPathLengthMax = 500
/** Characters of a hostname by the DNS, and of the `*.` before it. */
export const excludedHostLengthMax = 253 + 2
/** Characters of a range of IPv6 addresses, written in full with IPv4 at its end. */
export const excludedAddressLengthMax = 49
/** A wider range is a mistake: nobody's office has as many addresses. */
export const excludedPrefixLeast = { ipv4: 8, ipv6: 16 } as const
