import { z } from 'zod'
import { readPost } from '../../../postgres/tables/posts.ts'
import { serializePost } from '../../../postgres/tables/serialize-post.ts'
import { problem } from '../../../schemas/errors/problems.ts'
import { idInPath } from '../../../schemas/lax.ts'
import { PostWithPerformance } from '../../../schemas/resources/post.ts'
import { readableFrom } from '../../../schemas/time/readable-from.ts'
import { defineOperation } from '../define.ts'
import { revenueOf, visitsOf } from '../links/visits.ts'

export const getPost = defineOperation({
  name: 'post.get',
  http: { method: 'GET', path: '/v1/posts/{post_id}' },
  tool: 'svc.get_post',
  summary: 'Get a post with its targets and its performance.',
  description: 'Members of `performance` are null while they can’t be read, and without the scope `analytics:read`.',
  tag: 'Posts',
  effect: 'read',
  scope: 'posts:read',
  input: { path: z.object({ post_id: idInPath('post') }) },
  output: PostWithPerformance,
  problems: ['post_not_found'],
  async handle(context) {
    const { path, workspace, stores, clock } = context
    const post = await readPost(stores.pg, workspace.id, path.post_id)
    if (post === null) throw problem('post_not_found')
    const led = { column: 'post_id', id: path.post_id, readableFrom: readableFrom(workspace, clock.now()) } as const
    const [visits, revenue] = await Promise.all([visitsOf(context, led), revenueOf(context, led)])
    return { ...serializePost(post), performance: { ...(visits ?? noVisits), ...(revenue ?? noRevenue) } }
  },
})

const noVisits = { clicks: null, visitors: null, sessions: null, conversions: null }
const noRevenue = { payments: null, revenue_cents: null, revenue_by_currency: null }
