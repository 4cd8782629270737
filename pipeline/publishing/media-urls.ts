/** Addresses from which platforms fetch the files of posts: the API serves them (api/media/linked-file.ts). */
import type { Clock } from '../../runtime/clock.ts'
import { type LinkedMedia, makeMediaLinks } from '../../runtime/crypto/media-link.ts'
import { isPublicHost } from '../../runtime/outbound/public-host.ts'
import { mediaLinkMs } from '../../schemas/limits/media-limits.ts'

/** Null where nobody outside could fetch it. */
export type MediaUrlOf = (file: LinkedMedia) => string | null

/** @param apiHost the public root of the API; empty where none is set */
export function makeMediaUrls(secretKey: string, apiHost: string, clock: Clock): MediaUrlOf {
  const links = makeMediaLinks(secretKey)
  const { protocol, hostname } = URL.canParse(apiHost) ? new URL(apiHost) : { protocol: '', hostname: '' }
  const isReachable = protocol === 'https:' && isPublicHost(hostname)
  return (file) => (isReachable ? apiHost + links.path(file, clock.now() + mediaLinkMs) : null)
}
