/** Media assets as the API shows them. */
import type { z } from 'zod'
import type { UsedMedia } from '../../../postgres/tables/posts/media.ts'
import type { MediaAsset } from '../../../schemas/resources/media.ts'

type Shown = z.output<typeof MediaAsset>

export function serializeMedia(media: UsedMedia, apiHost: string): Shown {
  const { id, filename, original_filename, size_bytes, alt_text, usage_count, used_post_titles } = media
  return {
    id,
    object_id: `media_${id}`,
    filename,
    original_filename,
    content_type: media.content_type as Shown['content_type'],
    size_bytes,
    alt_text,
    usage_count,
    used_post_titles,
    last_used_at: media.last_used_at?.toISOString() ?? null,
    url: `${apiHost}/v1/media/${id}/file`,
    created_at: media.created_at.toISOString(),
  }
}
