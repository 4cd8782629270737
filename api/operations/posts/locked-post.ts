/** Locks a mutation's post until the transaction ends, so that the checked state is the changed state. */
import type { Queryable } from '../../../postgres/client.ts'
import { lockPost, type Post, readPost } from '../../../postgres/tables/posts/posts.ts'
import { whoChangedPost } from '../../../postgres/tables/workspaces/audit.ts'
import { type problem as makeProblem, problem } from '../../../schemas/errors/problems.ts'
import type { PostStatus } from '../../../schemas/resources/post.ts'
import { publishScope } from '../../../schemas/scopes.ts'
import { requireDate, type WrittenTime } from '../../../schemas/time/written-time.ts'
import { lacking } from '../../guards/authorize.ts'
import type { CallContext } from '../define.ts'

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

/** @throws Problem where the caller may write drafts alone, and it is none */
export function requireWritable({ status }: Post, { scopes, actor }: Pick<CallContext, 'scopes' | 'actor'>): void {
  if (status !== 'draft' && !scopes.includes(publishScope)) throw lacking(actor.type, publishScope)
}

/**
 * @param seenAt the post's `updated_at` as the caller read it; none: the caller takes the post as it is
 * @throws Problem where the post was changed since, which names who changed it last
 */
export async function requireAsSeen(
  tx: Queryable,
  post: Post,
  seenAt: WrittenTime | null | undefined,
  { workspace, actor }: Pick<CallContext, 'workspace' | 'actor'>,
  part: 'body' | 'query' = 'body',
): Promise<void> {
  if (!seenAt) return
  const seen = requireDate(seenAt, workspace.timezone, [part, 'updated_at'])
  if (seen.getTime() === post.updated_at.getTime()) return
  const by = await whoChangedPost(tx, workspace.id, post)
  if (by === null) throw problem('post_changed', '')
  // Whose answer was lost is told that it is the own change.
  const isOwn = actor.type === 'user' && by.actor_type === 'user' && by.actor_id === actor.id
  throw problem('post_changed', isOwn ? ' by you, in another window,' : ` by ${by.actor_name}`)
}

/** As it is after the change. */
export async function readLockedPost(tx: Queryable, workspaceId: number, id: number): Promise<Post> {
  const post = await readPost(tx, workspaceId, id)
  if (post === null) throw new Error(`post ${id} is gone while it is locked`)
  return post
}
