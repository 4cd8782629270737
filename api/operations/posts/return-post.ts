import { z } from 'zod'
import { setReview } from '../../../postgres/tables/posts/post-reviews.ts'
import { serializePost } from '../../../postgres/tables/posts/serialize-post.ts'
import { problem } from '../../../schemas/errors/problems.ts'
import { idInPath } from '../../../schemas/lax.ts'
import { PostResource, ReturnRequest } from '../../../schemas/resources/post.ts'
import { defineOperation } from '../define.ts'
import { lockPostIn, readLockedPost, requireAsSeen } from './locked-post.ts'

export const returnPost = defineOperation({
  name: 'post.return',
  http: { method: 'POST', path: '/v1/posts/{post_id}/return' },
  tool: 'svc.return_post',
  toolset: 'publishing',
  summary: 'Send a post that waits for approval back, with a note.',
  description: 'It stays a draft. Whoever asked for approval may take the request back so, too.',
  tag: 'Posts',
  effect: 'update',
  scope: 'posts:write',
  input: { path: z.object({ post_id: idInPath('post') }), body: ReturnRequest },
  needsNoBody: true,
  output: PostResource,
  problems: ['post_not_found', 'post_not_returnable', 'post_changed'],
  emits: 'post.updated',
  async handle({ path: { post_id }, body: { note, updated_at: seenAt }, workspace, actor, clock, stores: { pg } }) {
    const post = await lockPostIn(pg, workspace.id, post_id, ['draft'], 'post_not_returnable')
    if (post.review?.status !== 'waiting') throw problem('post_not_returnable')
    await requireAsSeen(pg, post, seenAt, { workspace, actor })
    const at = new Date(clock.now()).toISOString()
    await setReview(pg, post.id, { status: 'returned', by: actor.name, at, changed_at: null, note })
    return serializePost(await readLockedPost(pg, workspace.id, post.id))
  },
})
