/** Bounds of trusted revenue: providers' events, imports, and the interval at which credit is computed. */
import { day, KiB, MiB, second } from './units.ts'

/** An event of a provider: invoices with hundreds of lines have some 500 KiB. */
export const revenueBodyBytesMax = 1 * MiB
/** A signed time that is further from now is refused: so an event that somebody caught can't be sent again later. */
export const revenueToleranceMs = 300 * second
/** Signatures of one event, of which there are two while a secret is rotated, and what stands beside them. */
export const signaturesPerEventMax = 20
/** An amount in the currency's smallest unit: a number of JSON holds the sum of nine thousand of them exactly. */
export const revenueCentsMax = 1_000_000_000_000
export const providerIdLengthMax = 255
/** Connections that a workspace has at a time. */
export const revenueConnectionsMax = 50

/** Files of `svc revenue import`, `svc revenue rates` and `svc ads import`: their lines, and the bytes of one line. */
export const importLinesMax = 1_000_000
export const importLineBytesMax = 16 * KiB
/** Lines that one transaction records. */
export const importLinesEach = 200
export const adNameLengthMax = 254

/** Payments are credited when they come, and again at twice their age, because touches and identities come late; then no more. */
export const creditAgainFirstMs = 5 * second
export const creditAgainMaxMs = 7 * day
export const creditFinalAfterMs = 30 * day
/** How often the pipeline looks for payments that are due, how many it takes at once, and how long it goes on. */
export const creditEveryMs = 2 * second
export const creditedEach = 200
export const creditRunMs = 20 * second
/** Until payments of a workspace whose credits couldn't be computed are tried again. */
export const creditRetryMs = 30 * second
/** Browsers of one payer that touches are looked for of. */
export const payerBrowsersMax = 200
/** Touches of a visitor on the day of a payment that are looked at: the newest. */
export const creditTouchesMax = 1_000

/** Payments of a question that filters are applied to: the newest. */
export const filteredPaymentsMax = 50_000

/** Payments of a journey: the newest. */
export const journeyPaymentsMax = 200
