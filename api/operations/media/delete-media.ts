import { z } from 'zod'
import {
  deleteMedia as deleteMediaRows,
  isMediaAwaited,
  lockMedia,
  readUsedMedia,
} from '../../../postgres/tables/posts/media.ts'
import { problem } from '../../../schemas/errors/problems.ts'
import { idInPath } from '../../../schemas/lax.ts'
import { mediaTitlesMax } from '../../../schemas/limits/media-limits.ts'
import { MediaAsset } from '../../../schemas/resources/media.ts'
import { removeUnreferenced } from '../../media/sweep.ts'
import { defineOperation } from '../define.ts'
import { serializeMedia } from './serialize.ts'

export const deleteMedia = defineOperation({
  name: 'media.delete',
  http: { method: 'DELETE', path: '/v1/media/{media_id}' },
  tool: 'svc.delete_media',
  toolset: 'publishing',
  summary: 'Delete a media asset for good.',
  description:
    'Not one that a post needs which is still to be published, or the company profile. Published and archived posts keep its id; platforms keep their copies. The answer shows the asset as it was.',
  tag: 'Media',
  effect: 'delete',
  scope: 'media:write',
  input: { path: z.object({ media_id: idInPath('media') }) },
  output: MediaAsset,
  problems: ['media_not_found', 'media_in_use'],
  async handle({ path: { media_id: id }, workspace, stores, onCommit, config }) {
    const { pg, media: storage } = stores
    const asset = await lockMedia(pg, workspace.id, id)
    if (asset === null) throw problem('media_not_found')
    if (await isMediaAwaited(pg, id)) throw problem('media_in_use')
    const shown = await readUsedMedia(pg, workspace.id, id, mediaTitlesMax)
    await deleteMediaRows(pg, id)
    onCommit(async (transaction) => {
      await removeUnreferenced(storage, { transaction }, workspace.id, asset.sha256)
    })
    return serializeMedia(shown, config.apiHost)
  },
})
