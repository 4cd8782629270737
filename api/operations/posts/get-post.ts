import { z } from 'zod'
import { readPost } from '../../../postgres/tables/posts.ts'
import { shownPost } from '../../../postgres/tables/shown-post.ts'
import { idInPath } from '../../../schemas/lax.ts'
import { problem } from '../../../schemas/problems.ts'
import { PostResource } from '../../../schemas/resources/post.ts'
import { defineOperation } from '../define.ts'

export const getPost = defineOperation({
  name: 'post.get',
  http: { method: 'GET', path: '/v1/posts/{post_id}' },
  tool: 'svc.get_post',
  summary: 'Get a post with its targets.',
  tag: 'Posts',
  effect: 'read',
  scope: 'posts:read',
  input: { path: z.object({ post_id: idInPath('post') }) },
  output: PostResource,
  problems: ['post_not_found'],
  async handle({ path: { post_id }, workspace, stores: { pg } }) {
    const post = await readPost(pg, workspace.id, post_id)
    if (post === null) throw problem('post_not_found')
    return shownPost(post)
  },
})
