/** ETags (RFC 9110), so that clients with the current bytes get 304. */
import { createHash } from 'node:crypto'

/** A weak ETag of these bytes, however they are encoded. */
export function etagOf(body: string | Uint8Array): string {
  return `W/"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`
}

/** Part of an address that changes with these bytes. */
export function textVersion(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 6)
}

/** Whether a request's `If-None-Match` names it, by the weak comparison, in which `W/` says nothing. */
export function isKnownEtag(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false
  const tags = ifNoneMatch.split(',').map(withoutWeakness)
  return tags.includes('*') || tags.includes(withoutWeakness(etag))
}

function withoutWeakness(tag: string): string {
  return tag.trim().replace(/^W\//, '')
}
