/**
 * After a restore nobody can tell which posts of the time since the backup were published. They become drafts, and people
 * decide. Held by test/integration/publishing.test.ts.
 */
import type { Postgres } from '../../postgres/client.ts'
import { lockPost, markPostDraft, readPost } from '../../postgres/tables/posts/posts.ts'
import { listUnsettledPosts, type UnsettledPost } from '../../postgres/tables/posts/publishing.ts'
import { serializePost } from '../../postgres/tables/posts/serialize-post.ts'
import { insertOutbox } from '../../postgres/tables/webhooks/outbox.ts'
import { appendSystemChange } from '../../postgres/tables/workspaces/audit.ts'

/** Posts whose time lies before the moment, also those in the middle of being published. May be repeated. */
export async function holdPosts(pg: Postgres, before: Date): Promise<void> {
  for (const post of await listUnsettledPosts(pg, before)) await holdPost(pg, post)
}

function holdPost(pg: Postgres, { id, workspaceId }: UnsettledPost): Promise<void> {
  return pg.transaction(async (tx) => {
    const post = await lockPost(tx, workspaceId, id)
    // Another pipeline may have held it.
    if (post?.status !== 'scheduled' && post?.status !== 'publishing') return
    await markPostDraft(tx, id)
    await insertOutbox(tx, workspaceId, 'post.unscheduled', serializePost((await readPost(tx, workspaceId, id))!))
    await appendSystemChange(tx, {
      workspaceId,
      actorName: 'pipeline',
      action: 'post.unschedule',
      resourceId: id,
      metadata: { scheduled_at: post.scheduled_at },
    })
  })
}
