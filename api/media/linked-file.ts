/**
 * /media/LINK: one file, for a platform that fetches what it publishes. The pipeline makes the link
 * (pipeline/publishing/media-urls.ts). A link that we didn't make, or that has ended, costs no look-up. All that isn't
 * there is the same 404. Held by test/integration/publish-threads.test.ts.
 */
import type { Clock } from '../../runtime/clock.ts'
import type { MediaLinks } from '../../runtime/crypto/media-link.ts'
import type { RequestHead } from '../../runtime/http/head.ts'
import { jsonReply } from '../../runtime/http/reply.ts'
import type { NoRoute, Route } from '../../runtime/http/server.ts'
import type { Log } from '../../runtime/log.ts'
import { StoreUnavailable } from '../../runtime/store-error.ts'
import { Problem } from '../../schemas/errors/problems.ts'
import { fileReply } from '../transports/file-reply.ts'
import { problemReply } from '../transports/rest.ts'
import { type MediaStores, openMedia } from './open-media.ts'

interface LinkedFiles extends MediaStores {
  readonly mediaLinks: MediaLinks
  readonly clock: Clock
  readonly log: Log
}

const label = 'linked_file'

/** Undefined for other paths. */
export function routeLinkedFile(head: RequestHead, files: LinkedFiles): Route | NoRoute | undefined {
  const linked = files.mediaLinks.read(head.path, files.clock.now())
  if (linked === undefined) return undefined
  if (linked === null) return { label, reply: problemReply('media_not_found') }
  const { method } = head
  if (method !== 'GET' && method !== 'HEAD') {
    return { label, reply: problemReply('method_not_allowed', { Allow: 'GET, HEAD' }) }
  }
  return {
    label,
    bodyBytesMax: 0,
    async handle(request) {
      try {
        const file = await openMedia(files, linked, { log: files.log, requestId: request.requestId })
        return fileReply(file, request, { 'X-Robots-Tag': 'noindex' })
      } catch (error) {
        if (error instanceof Problem) return jsonReply(error.status, { detail: error.detail }, error.headers)
        if (!(error instanceof StoreUnavailable)) throw error
        files.log.warn({ err: error, requestId: request.requestId }, 'a store is away')
        return problemReply('store_unavailable')
      }
    },
  }
}
