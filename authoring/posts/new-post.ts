/** Makes a draft of what a post has, for whoever writes it: a caller, or a feed. */
import type { z } from 'zod'
import type { Queryable } from '../../postgres/client.ts'
import { setPostTargets } from '../../postgres/tables/posts/post-targets.ts'
import { insertPost, type Post, readPost, setPostMedia } from '../../postgres/tables/posts/posts.ts'
import { invalid } from '../../schemas/errors/problems.ts'
import type { PostCreate } from '../../schemas/resources/post.ts'
import { mediaOf, namedIn, readChoice, targetsOf, threadOf } from './choice.ts'
import { readGivenTime } from './given-time.ts'
import { refusalsOf } from './issue.ts'

/** @throws Problem 422 where the workspace lacks what it names */
export async function makePost(
  pg: Queryable,
  workspace: { readonly id: number; readonly timezone: string },
  post: z.output<typeof PostCreate>,
): Promise<Post> {
  const { title, base_caption, first_comment, tags } = post
  const time = readGivenTime(post.scheduled_at, workspace.timezone)
  const choice = await readChoice(pg, workspace.id, namedIn(post))
  const errors = [...time.errors, ...refusalsOf(choice.unknown)]
  if (errors.length > 0) throw invalid(errors)
  const id = await insertPost(pg, {
    workspaceId: workspace.id,
    title,
    baseCaption: base_caption,
    thread: threadOf(choice),
    tags,
    scheduledAt: time.scheduledAt,
    firstComment: first_comment,
  })
  await setPostMedia(pg, id, mediaOf(choice))
  await setPostTargets(pg, id, targetsOf(choice), 'draft')
  return (await readPost(pg, workspace.id, id))!
}
