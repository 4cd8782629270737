/** Puts a post into the queue: it goes out at the next posting time that is free. */
import type { Queryable } from '../../postgres/client.ts'
import { markPostScheduled, type Post, readPost } from '../../postgres/tables/posts/posts.ts'
import { problem } from '../../schemas/errors/problems.ts'
import { readFreeTimes } from './free-times.ts'
import { requireReady } from './stored.ts'

/**
 * The workspace and the post are locked: two posts at once would take the same time.
 * @throws Problem where the post isn't ready, or no posting time is free: nothing is changed then
 */
export async function scheduleNext(
  pg: Queryable,
  workspace: { readonly id: number; readonly timezone: string },
  post: Post,
  now: number,
): Promise<Post> {
  await requireReady(pg, workspace.id, post, [])
  const { times, free } = await readFreeTimes(pg, workspace, now)
  if (times.length === 0) throw problem('posting_times_missing')
  const [next] = free
  if (next === undefined) throw problem('posting_times_taken')
  await markPostScheduled(pg, post.id, next)
  return (await readPost(pg, workspace.id, post.id))!
}
