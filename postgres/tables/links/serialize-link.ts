/** Tracked links as the API shows them. */
import type { TrackedLink } from './links.ts'

/** @param shortUrlHost the root of short URLs without a domain, without a slash at its end */
export function serializeLink(
  { expires_at, targets, tags, created_at, updated_at, ...link }: TrackedLink,
  shortUrlHost: string,
) {
  return {
    ...link,
    targets: [...targets],
    tags: [...tags],
    object_id: `link_${link.id}`,
    post_url: `${link.domain === null ? shortUrlHost : `https://${link.domain}`}/${link.attribution_key}`,
    expires_at: expires_at?.toISOString() ?? null,
    created_at: created_at.toISOString(),
    updated_at: updated_at.toISOString(),
  }
}
