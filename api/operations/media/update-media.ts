import { z } from 'zod'
import type { Queryable } from '../../../postgres/client.ts'
import {
  listWaitingPlatforms,
  lockPostsShowing,
  readUsedMedia,
  setMediaAltText,
} from '../../../postgres/tables/posts/media.ts'
import { noteChangedMedia } from '../../../postgres/tables/posts/post-reviews.ts'
import { lengthOf } from '../../../schemas/code-points.ts'
import { invalid, problem } from '../../../schemas/errors/problems.ts'
import { valueError } from '../../../schemas/errors/validation-errors.ts'
import { idInPath } from '../../../schemas/lax.ts'
import { mediaTitlesMax } from '../../../schemas/limits/media-limits.ts'
import { providers } from '../../../schemas/reference/providers.ts'
import { MediaAsset, MediaUpdate } from '../../../schemas/resources/media.ts'
import { defineOperation } from '../define.ts'
import { serializeMedia } from './serialize.ts'

export const updateMedia = defineOperation({
  name: 'media.update',
  http: { method: 'PATCH', path: '/v1/media/{media_id}' },
  tool: 'svc.update_media',
  summary: 'Change the alternative text of a media asset.',
  description: 'Published posts keep theirs.',
  tag: 'Media',
  effect: 'update',
  scope: 'media:write',
  input: { path: z.object({ media_id: idInPath('media') }), body: MediaUpdate },
  output: MediaAsset,
  problems: ['media_not_found'],
  async handle({ path: { media_id: id }, body: { alt_text }, workspace, clock, stores: { pg }, config }) {
    await lockPostsShowing(pg, workspace.id, id)
    const before = await setMediaAltText(pg, workspace.id, id, alt_text)
    if (before === null) throw problem('media_not_found')
    await requireShortEnough(pg, id, alt_text)
    if (before !== alt_text) await noteChangedMedia(pg, id, new Date(clock.now()).toISOString())
    return serializeMedia(await readUsedMedia(pg, workspace.id, id, mediaTitlesMax), config.apiHost)
  },
})

/** Posts that are scheduled stay ready to be published. */
async function requireShortEnough(pg: Queryable, id: number, altText: string): Promise<void> {
  const length = lengthOf(altText)
  for (const platform of await listWaitingPlatforms(pg, id)) {
    const { label, altTextLengthMax: max } = providers[platform]
    if (max === null || length <= max) continue
    const message = `A post that is to be published shows it on ${label}, which takes at most ${max} characters`
    throw invalid([valueError(['body', 'alt_text'], altText, message)])
  }
}
