import { z } from 'zod'
import { markPostDraft } from '../../../postgres/tables/posts/posts.ts'
import { serializePost } from '../../../postgres/tables/posts/serialize-post.ts'
import { idInPath } from '../../../schemas/lax.ts'
import { PostResource, UnscheduleRequest } from '../../../schemas/resources/post.ts'
import { defineOperation } from '../define.ts'
import { lockPostIn, readLockedPost, requireAsSeen } from './locked-post.ts'

export const unschedulePost = defineOperation({
  name: 'post.unschedule',
  http: { method: 'POST', path: '/v1/posts/{post_id}/unschedule' },
  tool: 'svc.unschedule_post',
  onlyWith: { toolset: 'publishing', members: ['updated_at'] },
  summary: 'Make a scheduled post a draft without a time.',
  tag: 'Posts',
  effect: 'update',
  scope: 'posts:write',
  publishes: true,
  input: { path: z.object({ post_id: idInPath('post') }), body: UnscheduleRequest },
  needsNoBody: true,
  output: PostResource,
  problems: ['post_not_found', 'post_not_unschedulable', 'post_changed'],
  emits: 'post.unscheduled',
  async handle({ path: { post_id }, body: { updated_at: seenAt }, workspace, actor, stores: { pg } }) {
    const post = await lockPostIn(pg, workspace.id, post_id, ['scheduled'], 'post_not_unschedulable')
    await requireAsSeen(pg, post, seenAt, { workspace, actor })
    await markPostDraft(pg, post.id)
    return serializePost(await readLockedPost(pg, workspace.id, post.id))
  },
})
