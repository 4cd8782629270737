import { z } from 'zod'
import { requireReady } from '../../../authoring/posts/stored.ts'
import { setReview } from '../../../postgres/tables/posts/post-reviews.ts'
import { serializePost } from '../../../postgres/tables/posts/serialize-post.ts'
import { idInPath } from '../../../schemas/lax.ts'
import { PostResource, SubmitRequest } from '../../../schemas/resources/post.ts'
import { defineOperation } from '../define.ts'
import { lockPostIn, readLockedPost, requireAsSeen } from './locked-post.ts'

export const submitPost = defineOperation({
  name: 'post.submit',
  http: { method: 'POST', path: '/v1/posts/{post_id}/submit' },
  tool: 'svc.submit_post',
  toolset: 'publishing',
  summary: 'Ask for approval of a draft.',
  description:
    'It must be ready: see `POST /v1/posts/preview`. It stays a draft until somebody schedules it, which approves it, or sends it back.',
  tag: 'Posts',
  effect: 'update',
  scope: 'posts:write',
  input: { path: z.object({ post_id: idInPath('post') }), body: SubmitRequest },
  needsNoBody: true,
  output: PostResource,
  problems: ['post_not_found', 'post_not_submittable', 'post_changed'],
  emits: 'post.review_requested',
  async handle({ path: { post_id }, body: { updated_at: seenAt }, workspace, actor, clock, stores: { pg } }) {
    const post = await lockPostIn(pg, workspace.id, post_id, ['draft'], 'post_not_submittable')
    await requireAsSeen(pg, post, seenAt, { workspace, actor })
    await requireReady(pg, workspace.id, post, [])
    const at = new Date(clock.now()).toISOString()
    await setReview(pg, post.id, { status: 'waiting', by: actor.name, at, changed_at: null, note: null })
    return serializePost(await readLockedPost(pg, workspace.id, post.id))
  },
})
