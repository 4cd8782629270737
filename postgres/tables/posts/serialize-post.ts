/** Posts as the API and webhooks show them. */
import type { Post } from './posts.ts'

export function serializePost({ id, targets, scheduled_at, created_at, updated_at, ...post }: Post) {
  return {
    id,
    object_id: `post_${id}`,
    ...post,
    scheduled_at: scheduled_at?.toISOString() ?? null,
    targets: targets.map((target) => ({ ...target, object_id: `post_target_${target.id}` })),
    created_at: created_at.toISOString(),
    updated_at: updated_at.toISOString(),
  }
}
