import { insertMedia, lockMediaBytes, lockMediaOf, readMediaBytes } from '../../../postgres/tables/posts/media.ts'
import { problem } from '../../../schemas/errors/problems.ts'
import { MediaAsset, MediaUpload } from '../../../schemas/resources/media.ts'
import { defineOperation } from '../define.ts'
import { serializeMedia } from './serialize.ts'

export const uploadMedia = defineOperation({
  name: 'media.create',
  http: { method: 'POST', path: '/v1/media' },
  summary: 'Upload an image or a video.',
  description:
    'JPG, PNG, MP4 or MOV, by its content: what it is called, and the type that is declared, may not say anything else.',
  tag: 'Media',
  effect: 'create',
  scope: 'media:write',
  input: { form: MediaUpload },
  output: MediaAsset,
  problems: [
    'boundary_missing',
    'multipart_invalid',
    'body_too_large',
    'image_too_large',
    'video_too_large',
    'media_type_unsupported',
    'media_type_mismatch',
    'media_full',
    'uploads_full',
    'body_late',
  ],
  emits: 'media.created',
  async handle({ body: { file, alt_text }, workspace, stores: { pg }, config }) {
    const { filename, originalFilename, contentType, bytes, sha256, size } = file
    await lockMediaOf(pg, workspace.id)
    const max = config.mediaBytesMax[workspace.plan_key]
    if ((await readMediaBytes(pg, workspace.id, sha256)) + bytes > max) throw problem('media_full', String(max))
    await lockMediaBytes(pg, workspace.id, sha256)
    await file.keep(workspace.id)
    const media = await insertMedia(pg, {
      workspaceId: workspace.id,
      altText: alt_text,
      filename,
      originalFilename,
      contentType,
      bytes,
      sha256,
      width: size?.width ?? null,
      height: size?.height ?? null,
    })
    return serializeMedia({ ...media, usage_count: 0, used_post_titles: [], last_used_at: null }, config.apiHost)
  },
})
