import { z } from 'zod'
import { listPosts as readPosts } from '../../../postgres/tables/posts.ts'
import { serializePost } from '../../../postgres/tables/serialize-post.ts'
import { pageQuery } from '../../../schemas/resources/page.ts'
import { PostResource, postStatuses } from '../../../schemas/resources/post.ts'
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
      ...pageQuery('post').shape,
    }),
  },
  output: z.array(PostResource),
  async handle({ query: { status, limit, before_id }, workspace, stores: { pg } }) {
    return (await readPosts(pg, workspace.id, { limit, beforeId: before_id, status })).map(serializePost)
  },
})
