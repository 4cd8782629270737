import { makePost } from '../../../authoring/posts/new-post.ts'
import { serializePost } from '../../../postgres/tables/posts/serialize-post.ts'
import { PostCreate, PostResource } from '../../../schemas/resources/post.ts'
import { defineOperation } from '../define.ts'

export const createPost = defineOperation({
  name: 'post.create',
  http: { method: 'POST', path: '/v1/posts' },
  tool: 'svc.create_post',
  summary: 'Create a post as a draft.',
  description: 'Its `scheduled_at` is a proposal: only a schedule publishes it.',
  tag: 'Posts',
  effect: 'create',
  scope: 'posts:write',
  input: { body: PostCreate },
  output: PostResource,
  emits: 'post.created',
  handle: async ({ body, workspace, stores: { pg } }) => serializePost(await makePost(pg, workspace, body)),
})
