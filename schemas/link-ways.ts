/** The ways by which people come to a short link: by the link itself, or by its QR code, whose URL has a parameter more. */

/** As `link_clicks.way` stores them. */
export const linkWays = { link: 0, qr: 1 } as const
export type LinkWay = keyof typeof linkWays

/** Names that begin with `svc_` are passed on to no destination (`ingest/http/pass-query.ts`). */
const qrMark = 'svc_qr=1'

/** The text of a link's QR code. @param postUrl the short URL, which has no query */
export function qrUrlOf(postUrl: string): string {
  return `${postUrl}?${qrMark}`
}

/** @param query that of a short URL, as it came, without its question mark */
export function wayOfQuery(query: string): number {
  return query !== '' && query.split('&').includes(qrMark) ? linkWays.qr : linkWays.link
}
