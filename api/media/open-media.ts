import type { Queryable } from '../../postgres/client.ts'
import { findMedia } from '../../postgres/tables/posts/media.ts'
import type { FileStorage } from '../../runtime/files/file-storage.ts'
import type { Log } from '../../runtime/log.ts'
import { problem } from '../../schemas/errors/problems.ts'
import type { FileContent } from '../operations/file-output.ts'
import { onDisk } from './on-disk.ts'

export interface MediaStores {
  readonly pg: Pick<Queryable, 'query'>
  readonly media: FileStorage
}

/** The file of a workspace's asset. @throws Problem where there is none. @throws StoreUnavailable */
export async function openMedia(
  { pg, media: storage }: MediaStores,
  { workspaceId, mediaId }: { readonly workspaceId: number; readonly mediaId: number },
  { log, requestId }: { readonly log: Log; readonly requestId: string },
): Promise<FileContent> {
  const media = await findMedia(pg, workspaceId, mediaId)
  if (media === null) throw problem('media_not_found')
  const { filename, content_type, size_bytes, sha256 } = media
  const file = await onDisk(storage.find(workspaceId, sha256))
  if (file?.bytes !== size_bytes) {
    log.error({ requestId, media: media.id, bytes: file?.bytes ?? null }, 'the file of a media asset is missing')
    throw problem('media_not_found')
  }
  return { filename, contentType: content_type, bytes: size_bytes, tag: sha256.toString('hex'), open: file.open }
}
