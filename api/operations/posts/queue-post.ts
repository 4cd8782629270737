import { z } from 'zod'
import { scheduleNext } from '../../../authoring/posts/next-free-time.ts'
import { serializePost } from '../../../postgres/tables/posts/serialize-post.ts'
import { lockWorkspace } from '../../../postgres/tables/workspaces/workspaces.ts'
import { idInPath } from '../../../schemas/lax.ts'
import { PostResource, QueueRequest } from '../../../schemas/resources/post.ts'
import { defineOperation } from '../define.ts'
import { lockPostIn, requireAsSeen } from './locked-post.ts'

export const queuePost = defineOperation({
  name: 'post.queue',
  http: { method: 'POST', path: '/v1/posts/{post_id}/queue' },
  tool: 'svc.queue_post',
  summary: 'Schedule a draft or failed post for the next free posting time.',
  description: 'It must be ready.',
  tag: 'Posts',
  effect: 'update',
  scope: 'posts:write',
  publishes: true,
  input: { path: z.object({ post_id: idInPath('post') }), body: QueueRequest },
  needsNoBody: true,
  output: PostResource,
  problems: ['post_not_found', 'post_not_schedulable', 'post_changed', 'posting_times_missing', 'posting_times_taken'],
  emits: 'post.scheduled',
  async handle({ path: { post_id }, body: { updated_at: seenAt }, workspace, actor, clock, stores: { pg } }) {
    // The workspace comes before its post, as where it is deleted.
    await lockWorkspace(pg, workspace.id)
    const post = await lockPostIn(pg, workspace.id, post_id, ['draft', 'failed'], 'post_not_schedulable')
    await requireAsSeen(pg, post, seenAt, { workspace, actor })
    return serializePost(await scheduleNext(pg, workspace, post, clock.now()))
  },
})
