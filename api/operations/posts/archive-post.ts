import { z } from 'zod'
import { markPostArchived } from '../../../postgres/tables/posts/posts.ts'
import { serializePost } from '../../../postgres/tables/posts/serialize-post.ts'
import { idInPath } from '../../../schemas/lax.ts'
import { ArchiveRequest, PostResource } from '../../../schemas/resources/post.ts'
import { defineOperation } from '../define.ts'
import { lockPostIn, readLockedPost, requireAsSeen, requireWritable } from './locked-post.ts'

export const archivePost = defineOperation({
  name: 'post.archive',
  http: { method: 'POST', path: '/v1/posts/{post_id}/archive' },
  tool: 'svc.archive_post',
  onlyWith: { toolset: 'publishing', members: ['updated_at'] },
  summary: 'Archive a draft, scheduled or failed post: lists leave it out.',
  tag: 'Posts',
  effect: 'update',
  scope: 'posts:write',
  input: { path: z.object({ post_id: idInPath('post') }), body: ArchiveRequest },
  needsNoBody: true,
  output: PostResource,
  problems: ['post_not_found', 'post_not_archivable', 'post_changed'],
  emits: 'post.archived',
  async handle({ path: { post_id }, body: { updated_at: seenAt }, workspace, scopes, actor, stores: { pg } }) {
    const post = await lockPostIn(pg, workspace.id, post_id, ['draft', 'scheduled', 'failed'], 'post_not_archivable')
    requireWritable(post, { scopes, actor })
    await requireAsSeen(pg, post, seenAt, { workspace, actor })
    await markPostArchived(pg, post.id)
    return serializePost(await readLockedPost(pg, workspace.id, post.id))
  },
})
