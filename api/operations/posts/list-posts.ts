import { z } from 'zod'
import { listPosts as readPosts } from '../../../postgres/tables/posts.ts'
import { serializePost } from '../../../postgres/tables/serialize-post.ts'
import { invalid } from '../../../schemas/errors/problems.ts'
import { pageQuery } from '../../../schemas/resources/page.ts'
import { PostResource, postStatuses } from '../../../schemas/resources/post.ts'
import { momentOf, type WrittenTime, writtenTime } from '../../../schemas/time/written-time.ts'
import { defineOperation } from '../define.ts'

export const listPosts = defineOperation({
  name: 'post.list',
  http: { method: 'GET', path: '/v1/posts' },
  tool: 'svc.list_posts',
  summary: 'List posts, newest first.',
  description:
    'Without `status`, archived posts are left out. Where captions are very long, fewer than `limit` come: `before_id` goes on behind them.',
  tag: 'Posts',
  effect: 'read',
  scope: 'posts:read',
  input: {
    query: z.object({
      status: z.enum(postStatuses).optional().meta({ description: 'Only posts of this status.' }),
      scheduled_from: writtenTime.optional().meta({ description: 'Only those of this time or later.' }),
      scheduled_before: writtenTime.optional().meta({ description: 'Only those of an earlier time.' }),
      ...pageQuery('post').shape,
    }),
  },
  output: z.array(PostResource),
  async handle({ query: { status, limit, before_id, ...times }, workspace: { id, timezone }, stores: { pg } }) {
    const posts = await readPosts(pg, id, {
      ...{ limit, beforeId: before_id, status },
      scheduledFrom: dateOf(times.scheduled_from, 'scheduled_from', timezone),
      scheduledBefore: dateOf(times.scheduled_before, 'scheduled_before', timezone),
    })
    return posts.map(serializePost)
  },
})

/** @throws Problem where no calendar has it */
function dateOf(written: WrittenTime | undefined, name: string, timezone: string): Date | undefined {
  if (written === undefined) return undefined
  const time = momentOf(written, timezone, ['query', name])
  if ('error' in time) throw invalid([time.error])
  return new Date(time.moment)
}
