import { z } from 'zod'
import { type Engagement, listEngagement } from '../../../postgres/tables/posts/post-engagement.ts'
import { listPosts as readPosts } from '../../../postgres/tables/posts/posts.ts'
import { serializePost } from '../../../postgres/tables/posts/serialize-post.ts'
import { sumOfFigures } from '../../../schemas/engagement.ts'
import { pageQuery } from '../../../schemas/resources/page.ts'
import { ListedPost, postStatuses, reviewStatuses } from '../../../schemas/resources/post.ts'
import { requireDate, writtenTime } from '../../../schemas/time/written-time.ts'
import { defineOperation } from '../define.ts'

export const listPosts = defineOperation({
  name: 'post.list',
  http: { method: 'GET', path: '/v1/posts' },
  tool: 'svc.list_posts',
  summary: 'List posts, newest first.',
  description: 'Without `status`, no archived posts. Long captions shorten pages.',
  tag: 'Posts',
  effect: 'read',
  scope: 'posts:read',
  input: {
    query: z.object({
      status: z.enum(postStatuses).optional().meta({ description: 'Only posts of this status.' }),
      review: z
        .enum(reviewStatuses)
        .optional()
        .meta({ description: 'Drafts that wait for approval, or were sent back.' }),
      scheduled_from: writtenTime.optional().meta({ description: 'This time or later.' }),
      scheduled_before: writtenTime.optional().meta({ description: 'An earlier time.' }),
      ...pageQuery('post').shape,
    }),
  },
  output: z.array(ListedPost),
  async handle({ query: { status, review, limit, before_id, ...times }, workspace: { id, timezone }, stores: { pg } }) {
    const { scheduled_from: from, scheduled_before: before } = times
    const posts = await readPosts(pg, id, {
      limit,
      beforeId: before_id,
      status,
      review,
      scheduledFrom: from && requireDate(from, timezone, ['query', 'scheduled_from']),
      scheduledBefore: before && requireDate(before, timezone, ['query', 'scheduled_before']),
    })
    const known = new Map<number, Engagement[]>(posts.map((post) => [post.id, []]))
    for (const one of await listEngagement(pg, [...known.keys()])) known.get(one.postId)!.push(one)
    return posts.map((post) => ({ ...serializePost(post), engagement: sumOfFigures(known.get(post.id)!) }))
  },
})
