/** Locks a mutation's post until the transaction ends, so that the checked state is the changed state. */
import type { Queryable } from '../../../postgres/client.ts'
import { lockPost, type Post, readPost } from '../../../postgres/tables/posts.ts'
import { type problem as makeProblem, problem } from '../../../schemas/errors/problems.ts'
import type { PostStatus } from '../../../schemas/resources/post.ts'

type StateProblem = Extract<Parameters<typeof makeProblem>[0], `post_not_${string}able`>

/**
 * @throws Problem post_not_found, the same for another workspace's; `refusal` where its status isn't among `allowed`
 */
export async function lockPostIn(
  tx: Queryable,
  workspaceId: number,
  id: number,
  allowed: readonly PostStatus[],
  refusal: StateProblem,
): Promise<Post> {
  const post = await lockPost(tx, workspaceId, id)
  if (post === null) throw problem('post_not_found')
  if (!allowed.includes(post.status)) throw problem(refusal)
  return post
}

/** As it is after the change. */
export async function readLockedPost(tx: Queryable, workspaceId: number, id: number): Promise<Post> {
  const post = await readPost(tx, workspaceId, id)
  if (post === null) throw new Error(`post ${id} is gone while it is locked`)
  return post
}
