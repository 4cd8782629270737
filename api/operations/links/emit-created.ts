/** Writes the webhook events of links that a request or a command made at once. */
import type { Queryable } from '../../../postgres/client.ts'
import type { TrackedLink } from '../../../postgres/tables/links/links.ts'
import { serializeLink } from '../../../postgres/tables/links/serialize-link.ts'
import { insertOutboxRows } from '../../../postgres/tables/webhooks/outbox.ts'

/**
 * @param tx the transaction that made the links
 * @param shortUrlHost the root of short URLs, without a slash at its end
 * @returns the links as the API shows them, in their order
 */
export async function emitLinksCreated(
  tx: Queryable,
  workspaceId: number,
  links: readonly TrackedLink[],
  shortUrlHost: string,
) {
  const objects = links.map((link) => serializeLink(link, shortUrlHost))
  await insertOutboxRows(
    tx,
    objects.map((object) => ({ workspaceId, type: 'link.created' as const, object })),
  )
  return objects
}
