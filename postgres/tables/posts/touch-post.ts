/** Changes of a post's targets move its `updated_at`, by which readers see them. */
import type { Queryable } from '../../client.ts'

/**
 * The post is locked before its target, as where it is settled.
 * @param change of one of its targets. @returns whether it changed something, as it says
 */
export async function changeAndTouchPost(
  tx: Queryable,
  postId: number,
  change: () => Promise<boolean>,
): Promise<boolean> {
  await tx.query('SELECT 1 FROM posts WHERE id = $1 FOR UPDATE', [postId])
  if (!(await change())) return false
  await tx.query('UPDATE posts SET updated_at = clock_timestamp() WHERE id = $1', [postId])
  return true
}
