import { z } from 'zod'
import { findMedia } from '../../../postgres/tables/media.ts'
import { problem } from '../../../schemas/errors/problems.ts'
import { idInPath } from '../../../schemas/lax.ts'
import { onDisk } from '../../media/on-disk.ts'
import { defineOperation } from '../define.ts'
import { fileOutput } from '../file-output.ts'

export const readMediaFile = defineOperation({
  name: 'media_file.get',
  http: { method: 'GET', path: '/v1/media/{media_id}/file' },
  summary: 'Download the bytes of a media asset, or a range of them.',
  tag: 'Media',
  effect: 'read',
  scope: 'media:read',
  input: { path: z.object({ media_id: idInPath('media') }) },
  output: fileOutput,
  problems: ['media_not_found', 'range_unsatisfiable'],
  async handle({ path: { media_id }, workspace, stores: { pg, media: storage }, log, requestId }) {
    const media = await findMedia(pg, workspace.id, media_id)
    if (media === null) throw problem('media_not_found')
    const { filename, content_type, size_bytes, sha256 } = media
    const file = await onDisk(storage.find(workspace.id, sha256))
    if (file?.bytes !== size_bytes) {
      log.error({ requestId, media: media.id, bytes: file?.bytes ?? null }, 'the file of a media asset is missing')
      throw problem('media_not_found')
    }
    const tag = sha256.toString('hex')
    return { filename, contentType: content_type, bytes: size_bytes, tag, open: file.open }
  },
})
