import { readMediaBytes } from '../../../postgres/tables/posts/media.ts'
import { MediaUsage } from '../../../schemas/resources/media.ts'
import { defineOperation } from '../define.ts'

export const readMediaUsage = defineOperation({
  name: 'media_usage.get',
  http: { method: 'GET', path: '/v1/media/usage' },
  tool: 'svc.get_media_usage',
  toolset: 'publishing',
  summary: 'Read how many bytes of media the workspace stores, and how many its plan allows.',
  tag: 'Media',
  effect: 'read',
  scope: 'media:read',
  input: {},
  output: MediaUsage,
  handle: async ({ workspace, stores: { pg }, config }) => ({
    stored_bytes: await readMediaBytes(pg, workspace.id),
    max_bytes: config.mediaBytesMax[workspace.plan_key],
  }),
})
