import { z } from 'zod'
import { judgeTime } from '../../../authoring/posts/readiness.ts'
import { requireNone } from '../../../authoring/posts/stored.ts'
import { markPostScheduled } from '../../../postgres/tables/posts/posts.ts'
import { serializePost } from '../../../postgres/tables/posts/serialize-post.ts'
import { idInPath } from '../../../schemas/lax.ts'
import { PostResource, RescheduleRequest } from '../../../schemas/resources/post.ts'
import { requireDate } from '../../../schemas/time/written-time.ts'
import { defineOperation } from '../define.ts'
import { lockPostIn, readLockedPost, requireAsSeen } from './locked-post.ts'

export const reschedulePost = defineOperation({
  name: 'post.reschedule',
  http: { method: 'POST', path: '/v1/posts/{post_id}/reschedule' },
  tool: 'svc.reschedule_post',
  summary: 'Move a scheduled or failed post to another time.',
  description: 'Only the time is checked.',
  tag: 'Posts',
  effect: 'update',
  scope: 'posts:write',
  publishes: true,
  input: { path: z.object({ post_id: idInPath('post') }), body: RescheduleRequest },
  output: PostResource,
  problems: ['post_not_found', 'post_not_reschedulable', 'post_changed'],
  emits: 'post.scheduled',
  async handle({ path: { post_id }, body, workspace, actor, clock, stores: { pg } }) {
    const { scheduled_at, updated_at: seenAt } = body
    const post = await lockPostIn(pg, workspace.id, post_id, ['scheduled', 'failed'], 'post_not_reschedulable')
    await requireAsSeen(pg, post, seenAt, { workspace, actor })
    const time = requireDate(scheduled_at, workspace.timezone, ['body', 'scheduled_at'])
    requireNone(judgeTime(time, clock.now(), scheduled_at.sent))
    await markPostScheduled(pg, post.id, time)
    return serializePost(await readLockedPost(pg, workspace.id, post.id))
  },
})
