/** Previews a feed's entries as posts would read. It asks somebody else's server while the caller waits, so no key may call it. */
import { captionsOf } from '../../../pipeline/feeds/entry-caption.ts'
import { FeedRefused } from '../../../pipeline/feeds/fetch-feed.ts'
import { findFeed } from '../../../pipeline/feeds/find-feed.ts'
import { makeGuardedAgent } from '../../../runtime/outbound/guarded-agent.ts'
import { invalid, problem } from '../../../schemas/errors/problems.ts'
import { valueError } from '../../../schemas/errors/validation-errors.ts'
import {
  feedPreviewEntries,
  feedPreviewsAtOnce,
  feedPreviewsOfWorkspace,
  feedRequestMs,
} from '../../../schemas/limits/feed-limits.ts'
import { FeedPreview, FeedPreviewRequest } from '../../../schemas/resources/feed.ts'
import { defineOperation } from '../../operations/define.ts'
import { requirePublic } from '../../operations/feeds/feeds.ts'

/** Ids of the workspaces whose previews are under way. */
const underWay: number[] = []

export const previewFeed = defineOperation({
  name: 'feed.preview',
  http: { method: 'POST', path: '/v1/feeds/preview' },
  summary:
    'Read a feed, or that of a site, and show its newest entries as posts of them would read. Nothing is written.',
  tag: 'Posts',
  effect: 'read',
  scope: 'posts:write',
  input: { body: FeedPreviewRequest },
  output: FeedPreview,
  problems: ['feed_previews_full'],
  async handle({ body: { url, template }, workspace, config: { allowPrivateTargets: allowPrivate } }) {
    if (!allowPrivate) requirePublic(url)
    // A slow server of one workspace keeps none of the others from a preview.
    const own = underWay.filter((id) => id === workspace.id).length
    if (underWay.length >= feedPreviewsAtOnce || own >= feedPreviewsOfWorkspace) throw problem('feed_previews_full')
    underWay.push(workspace.id)
    try {
      const found = await readNow(url, allowPrivate)
      const { title, entries } = found.feed
      const newest = entries.slice(-feedPreviewEntries).reverse()
      return {
        url: found.url,
        title,
        entries: newest.map((entry) => {
          const texts = entry.texts()
          const { base } = captionsOf(template, texts, [])
          const publishedAt = entry.publishedAt?.toISOString() ?? null
          return { title: texts.title, link: texts.link, published_at: publishedAt, caption: base }
        }),
      }
    } finally {
      underWay.splice(underWay.indexOf(workspace.id), 1)
    }
  },
})

/** @throws Problem 422 that says why it can't be read */
async function readNow(url: string, allowPrivate: boolean) {
  const agent = makeGuardedAgent({ allowPrivate, connectMs: feedRequestMs })
  try {
    // The caller may disconnect meanwhile, so the fetch has its own deadline.
    const { signal } = new AbortController()
    return await findFeed(url, { agent, allowPrivate }, signal)
  } catch (error) {
    if (!(error instanceof FeedRefused)) throw error
    throw invalid([valueError(['body', 'url'], url, error.message)])
  } finally {
    await agent.destroy()
  }
}
