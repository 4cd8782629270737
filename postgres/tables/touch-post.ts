/** Changes of targets that readers of the post see: its `updated_at` tells of them. */
import type { Queryable } from '../client.ts'

/**
 * The post is locked before its target, as where it is settled.
 * @param change of one of its targets. @returns what it says: whether something was changed
 */
export async function changeShown(tx: Queryable, postId: number, change: () => Promise<boolean>): Promise<boolean> {
  await tx.query('SELECT 1 FROM posts WHERE id = $1 FOR UPDATE', [postId])
  if (!(await change())) return false
  await tx.query('UPDATE posts SET updated_at = clock_timestamp() WHERE id = $1', [postId])
  return true
}
