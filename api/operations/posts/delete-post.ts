import { z } from 'zod'
import { isBegun } from '../../../authoring/posts/stored.ts'
import { deletePost as deletePostRows } from '../../../postgres/tables/posts.ts'
import { serializePost } from '../../../postgres/tables/serialize-post.ts'
import { problem } from '../../../schemas/errors/problems.ts'
import { idInPath } from '../../../schemas/lax.ts'
import { PostResource } from '../../../schemas/resources/post.ts'
import { defineOperation } from '../define.ts'
import { lockPostIn, requireWritable } from './locked-post.ts'

export const deletePost = defineOperation({
  name: 'post.delete',
  http: { method: 'DELETE', path: '/v1/posts/{post_id}' },
  tool: 'svc.delete_post',
  summary: 'Delete a post of which nothing was published, for good.',
  description: 'Media and links stay.',
  tag: 'Posts',
  effect: 'delete',
  scope: 'posts:write',
  input: { path: z.object({ post_id: idInPath('post') }) },
  output: PostResource,
  problems: ['post_not_found', 'post_not_deletable'],
  async handle({ path: { post_id }, workspace, scopes, actor, stores: { pg } }) {
    const deletable = ['draft', 'scheduled', 'failed', 'archived'] as const
    const post = await lockPostIn(pg, workspace.id, post_id, deletable, 'post_not_deletable')
    requireWritable(post, { scopes, actor })
    // A post that failed on one platform may be published on another: its result stays readable.
    if (post.targets.some(isBegun)) throw problem('post_not_deletable')
    await deletePostRows(pg, post.id)
    return serializePost(post)
  },
})
