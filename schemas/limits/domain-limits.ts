/** The bounds of short domains, with their unit and reason. */

/** Short domains of a workspace. Ingest holds the verified ones of all workspaces in memory. */
export const shortDomainsMax = 20
/**
 * Redirects in a row from an address of a domain: through the workspace's own addresses for the API, through all domains
 * for ingest. Browsers follow 20.
 */
export const shortDomainHopsMax = 10
/** Characters of a host: a name has 253, and its TXT record stands under a label of its own. */
export const shortDomainLengthMax = 253 - '_svc.'.length
/** Characters of a host as it is sent: other scripts are shorter than their names in ASCII. */
export const sentDomainLengthMax = 253
/** Time for the answer about a TXT record. It is part of the time of an answer of the API. */
export const txtDeadlineMs = 4_000
