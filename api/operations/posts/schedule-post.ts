import { z } from 'zod'
import { judgeTime } from '../../../authoring/posts/readiness.ts'
import { requireNone, requireReady } from '../../../authoring/posts/stored.ts'
import { markPostScheduled } from '../../../postgres/tables/posts/posts.ts'
import { serializePost } from '../../../postgres/tables/posts/serialize-post.ts'
import { idInPath } from '../../../schemas/lax.ts'
import { PostResource, ScheduleRequest } from '../../../schemas/resources/post.ts'
import { requireDate } from '../../../schemas/time/written-time.ts'
import { defineOperation } from '../define.ts'
import { lockPostIn, readLockedPost, requireAsSeen } from './locked-post.ts'

export const schedulePost = defineOperation({
  name: 'post.schedule',
  http: { method: 'POST', path: '/v1/posts/{post_id}/schedule' },
  tool: 'svc.schedule_post',
  summary: 'Schedule a draft or failed post for a time in the future.',
  description:
    'It must be ready: see `POST /v1/posts/preview`. Published targets are left out. As a tool, it reschedules, too.',
  tag: 'Posts',
  effect: 'update',
  scope: 'posts:write',
  publishes: true,
  input: { path: z.object({ post_id: idInPath('post') }), body: ScheduleRequest },
  output: PostResource,
  problems: ['post_not_found', 'post_not_schedulable', 'post_changed'],
  emits: 'post.scheduled',
  async handle({ path: { post_id }, body, workspace, actor, clock, interface: by, stores: { pg } }) {
    const { scheduled_at, updated_at: seenAt } = body
    const allowed = by === 'mcp' ? (['draft', 'failed', 'scheduled'] as const) : (['draft', 'failed'] as const)
    const post = await lockPostIn(pg, workspace.id, post_id, allowed, 'post_not_schedulable')
    await requireAsSeen(pg, post, seenAt, { workspace, actor })
    const time = requireDate(scheduled_at, workspace.timezone, ['body', 'scheduled_at'])
    const late = judgeTime(time, clock.now(), scheduled_at.sent)
    if (post.status === 'scheduled') requireNone(late)
    else await requireReady(pg, workspace.id, post, late)
    await markPostScheduled(pg, post.id, time)
    return serializePost(await readLockedPost(pg, workspace.id, post.id))
  },
})
