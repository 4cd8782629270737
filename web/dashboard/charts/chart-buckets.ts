/** Buckets of a chart over time, and which of them are over. */

/** Moments as texts, as the API has them. */
export interface ChartBucket {
  readonly label: string
  readonly start: string
  readonly end: string
}

/** A range that ends now ends a little after the moment that its figures are of. */
const answeredWithinMs = 60_000

/** How many buckets are over: the one that holds the present isn't. */
export function countEnded(buckets: readonly ChartBucket[], asOf: string): number {
  const now = Date.parse(asOf)
  const ended = buckets.findIndex(({ end }, at) => {
    return Date.parse(end) > (at === buckets.length - 1 ? now - answeredWithinMs : now)
  })
  return ended === -1 ? buckets.length : ended
}
