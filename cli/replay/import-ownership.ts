/** Which links and posts of the workspace led to the pages of an import: Postgres is asked for a portion of events at once. */
import type { Ownership } from '../../ingest/enrich/match-link.ts'
import { makePageUrl, readPageUrl } from '../../ingest/enrich/page-url.ts'
import type { Queryable } from '../../postgres/client.ts'
import { linksAmong } from '../../postgres/tables/links/links.ts'
import { postsAmong } from '../../postgres/tables/posts/posts.ts'

export interface ImportOwnership {
  /** Knows the links and posts that the pages of the last `learn` name. */
  readonly ownership: Ownership
  learn(urls: readonly string[]): Promise<void>
}

export function makeImportOwnership(q: Queryable, workspaceId: number): ImportOwnership {
  let postOfLink = new Map<number, number | null>()
  let posts = new Set<number>()
  const page = makePageUrl()

  return {
    ownership: {
      linkOfId: (id) => {
        const postId = postOfLink.get(id)
        return postId === undefined ? undefined : { workspaceId, postId }
      },
      workspaceOfPost: (id) => (posts.has(id) ? workspaceId : undefined),
    },
    learn: async (urls) => {
      const linkIds = new Set<number>()
      const postIds = new Set<number>()
      for (const url of urls) {
        readPageUrl(url, page)
        if (page.linkId !== 0) linkIds.add(page.linkId)
        if (page.postId !== 0) postIds.add(page.postId)
      }
      const foundLinks = linkIds.size === 0 ? [] : await linksAmong(q, workspaceId, [...linkIds])
      const foundPosts = postIds.size === 0 ? [] : await postsAmong(q, workspaceId, [...postIds])
      postOfLink = new Map(foundLinks.map(({ id, post_id }) => [id, post_id]))
      posts = new Set(foundPosts.map(({ id }) => id))
    },
  }
}
