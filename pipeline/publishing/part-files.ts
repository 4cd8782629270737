/** The files of a part, as adapters take them. */
import type { StoredPublication } from '../../postgres/tables/posts/publication.ts'
import type { FileStorage } from '../../runtime/files/file-storage.ts'
import { ProviderError, type PublishedMedia } from './adapter.ts'
import type { MediaUrlOf } from './media-urls.ts'

export interface Files {
  readonly media: FileStorage
  readonly mediaUrl: MediaUrlOf
}

/** @param place how many parts come before it. @throws ProviderError where a file isn't there as it was uploaded */
export function filesOf(
  { media, mediaUrl }: Files,
  { workspace_id: workspaceId, media: stored }: Pick<StoredPublication, 'workspace_id' | 'media'>,
  place: number,
): Promise<PublishedMedia[]> {
  const shown = stored.filter(({ part }) => part === place)
  return Promise.all(
    shown.map(async ({ id, content_type, size_bytes, alt_text, width, height, sha256 }) => {
      const file = await media.find(workspaceId, Buffer.from(sha256, 'hex'))
      if (file?.bytes !== size_bytes) {
        throw new ProviderError({ kind: 'transient', code: 'media_missing' }, `The file of media ${id} is missing`)
      }
      const described = { id, contentType: content_type, altText: alt_text, width, height }
      return { ...described, bytes: size_bytes, publicUrl: mediaUrl({ workspaceId, mediaId: id }), open: file.open }
    }),
  )
}
