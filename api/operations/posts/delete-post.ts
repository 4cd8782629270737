import { z } from 'zod'
import { isBegun } from '../../../authoring/posts/stored.ts'
import { deletePost as deletePostRows } from '../../../postgres/tables/posts/posts.ts'
import { serializePost } from '../../../postgres/tables/posts/serialize-post.ts'
import { problem } from '../../../schemas/errors/problems.ts'
import { idInPath } from '../../../schemas/lax.ts'
import { PostResource, SeenInQuery } from '../../../schemas/resources/post.ts'
import { defineOperation } from '../define.ts'
import { lockPostIn, requireAsSeen, requireWritable } from './locked-post.ts'

export const deletePost = defineOperation({
  name: 'post.delete',
  http: { method: 'DELETE', path: '/v1/posts/{post_id}' },
  tool: 'svc.delete_post',
  onlyWith: { toolset: 'publishing', members: ['updated_at'] },
  summary: 'Delete a post of which nothing was published, for good.',
  description: 'Media and links stay.',
  tag: 'Posts',
  effect: 'delete',
  scope: 'posts:write',
  input: { path: z.object({ post_id: idInPath('post') }), query: SeenInQuery },
  output: PostResource,
  problems: ['post_not_found', 'post_not_deletable', 'post_changed'],
  async handle({ path: { post_id }, query: { updated_at: seenAt }, workspace, scopes, actor, stores: { pg } }) {
    const deletable = ['draft', 'scheduled', 'failed', 'archived'] as const
    const post = await lockPostIn(pg, workspace.id, post_id, deletable, 'post_not_deletable')
    requireWritable(post, { scopes, actor })
    await requireAsSeen(pg, post, seenAt, { workspace, actor }, 'query')
    // A post that failed on one platform may be published on another: its result stays readable.
    if (post.targets.some(isBegun)) throw problem('post_not_deletable')
    await deletePostRows(pg, post.id)
    return serializePost(post)
  },
})
