import { z } from 'zod'
import { idInPath } from '../../../schemas/lax.ts'
import { openMedia } from '../../media/open-media.ts'
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
  handle: ({ path: { media_id: mediaId }, workspace, stores, log, requestId }) =>
    openMedia(stores, { workspaceId: workspace.id, mediaId }, { log, requestId }),
})
