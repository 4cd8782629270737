import { insertPost, setPostMedia, setPostTargets } from '../../../postgres/tables/posts.ts'
import { serializePost } from '../../../postgres/tables/serialize-post.ts'
import { invalid } from '../../../schemas/errors/problems.ts'
import { PostCreate, PostResource } from '../../../schemas/resources/post.ts'
import { defineOperation } from '../define.ts'
import { mediaOf, namedIn, readChoice, targetsOf, threadOf } from './choice.ts'
import { readGivenTime } from './given-time.ts'
import { refusalsOf } from './issue.ts'
import { readLockedPost } from './locked-post.ts'

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
  async handle({ body, workspace, stores: { pg } }) {
    const { title, base_caption, first_comment, tags } = body
    const time = readGivenTime(body.scheduled_at, workspace.timezone)
    const choice = await readChoice(pg, workspace.id, namedIn(body))
    const errors = [...time.errors, ...refusalsOf(choice.unknown)]
    if (errors.length > 0) throw invalid(errors)
    const id = await insertPost(pg, {
      ...{ workspaceId: workspace.id, title, baseCaption: base_caption, thread: threadOf(choice), tags },
      ...{ scheduledAt: time.scheduledAt, firstComment: first_comment },
    })
    await setPostMedia(pg, id, mediaOf(choice))
    await setPostTargets(pg, id, targetsOf(choice), 'draft')
    return serializePost(await readLockedPost(pg, workspace.id, id))
  },
})
