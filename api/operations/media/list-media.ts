import { z } from 'zod'
import { listMedia as readMedia } from '../../../postgres/tables/posts/media.ts'
import { mediaTitlesMax } from '../../../schemas/limits/media-limits.ts'
import { MediaAsset } from '../../../schemas/resources/media.ts'
import { pageQuery } from '../../../schemas/resources/page.ts'
import { defineOperation } from '../define.ts'
import { serializeMedia } from './serialize.ts'

export const listMedia = defineOperation({
  name: 'media.list',
  http: { method: 'GET', path: '/v1/media' },
  tool: 'svc.list_media',
  summary: 'List the media assets of the workspace, newest first.',
  tag: 'Media',
  effect: 'read',
  scope: 'media:read',
  input: { query: pageQuery('media') },
  output: z.array(MediaAsset),
  async handle({ query: { limit, before_id }, workspace, stores: { pg }, config }) {
    const media = await readMedia(pg, workspace.id, { limit, beforeId: before_id, titlesMax: mediaTitlesMax })
    return media.map((asset) => serializeMedia(asset, config.apiHost))
  },
})
