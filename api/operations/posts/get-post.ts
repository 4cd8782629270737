import { z } from 'zod'
import { type Engagement, listEngagement } from '../../../postgres/tables/posts/post-engagement.ts'
import { readPost } from '../../../postgres/tables/posts/posts.ts'
import { serializePost } from '../../../postgres/tables/posts/serialize-post.ts'
import { sumOfFigures } from '../../../schemas/engagement.ts'
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
  summary: 'Get a post with its targets, performance and engagement.',
  description:
    '`performance` has clicks, visitors, sessions, conversions and revenue: null without `analytics:read`. ' +
    '`engagement` has likes, comments, shares and views: null where no network says.',
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
    const origin = { column: 'post_id', id: path.post_id, readableFrom: readableFrom(workspace, clock.now()) } as const
    const [visits, revenue, engagement] = await Promise.all([
      visitsOf(context, origin),
      revenueOf(context, origin),
      listEngagement(stores.pg, [post.id]),
    ])
    const { targets, ...shown } = serializePost(post)
    return {
      ...shown,
      targets: targets.map((target) => ({ ...target, engagement: engagementOf(target.id, engagement) })),
      performance: { ...(visits ?? noVisits), ...(revenue ?? noRevenue) },
      engagement: sumOfFigures(engagement),
    }
  },
})

/** Null: nothing was read yet, or the network says nothing. */
function engagementOf(targetId: number, all: readonly Engagement[]) {
  const found = all.find((one) => one.targetId === targetId)
  if (found === undefined) return null
  const { likes, comments, shares, views, readAt, goneAt } = found
  const times = { read_at: readAt?.toISOString() ?? null, gone_at: goneAt?.toISOString() ?? null }
  return { likes, comments, shares, views, ...times }
}

const noVisits = { clicks: null, visitors: null, sessions: null, conversions: null }
const noRevenue = { payments: null, revenue_cents: null, revenue_by_currency: null }
