/**
 * Looks at feeds that are due, while the process runs. Its queue is in Postgres: a process leases a feed for a look, and another
 * one may look after `feedLeaseMs`. Rules: docs/posts.md. Held by test/integration/feeds.test.ts.
 */
import { type LeasedFeed, leaseFeeds, releaseLook } from '../../postgres/tables/posts/feed-looks.ts'
import { forEachAtMost } from '../../runtime/for-each.ts'
import { feedLeaseMs, feedsAtOnce, feedsEveryMs } from '../../schemas/limits/feed-limits.ts'
import { type JobLoop, type JobLoopContext, startJobLoop } from '../job-loop.ts'
import { type FeedFetching, FeedRefused, fetchFeed } from './fetch-feed.ts'
import { findFeed } from './find-feed.ts'
import { readFeed } from './read-feed.ts'
import { type LookContext, refusalOf, settleFailed, settleRead, settleRefused, settleUnchanged } from './settle-look.ts'

export interface FeedsContext extends LookContext, JobLoopContext {
  readonly fetching: FeedFetching
}

export function startFeedReader(context: FeedsContext): JobLoop {
  const job = { name: 'look-at-feeds', whenFailing: 'feeds can not be looked at now', pauseMs: feedsEveryMs }
  return startJobLoop(context, job, (signal) => lookAtFeeds(context, signal))
}

/** One look at each feed that is due, at most `feedsAtOnce` of them. @returns whether others may be due */
export async function lookAtFeeds(context: FeedsContext, stopping: AbortSignal): Promise<boolean> {
  const now = context.clock.now()
  const leasing = { now: new Date(now), until: new Date(now + feedLeaseMs), max: feedsAtOnce }
  const feeds = await leaseFeeds(context.pg, leasing)
  await forEachAtMost(feedsAtOnce, feeds, stopping, (feed) => look(context, feed, stopping))
  return feeds.length === feedsAtOnce
}

async function look(context: FeedsContext, feed: LeasedFeed, stopping: AbortSignal): Promise<void> {
  const refusal = refusalOf(feed)
  if (refusal !== null) return settleRefused(context, feed, refusal)
  try {
    // The address may be a site's: its first reading finds the feed.
    if (feed.read_at === null)
      return await settleRead(context, feed, await findFeed(feed.url, context.fetching, stopping))
    const known = { etag: feed.etag, lastModified: feed.last_modified }
    const fetched = await fetchFeed(feed.url, known, context.fetching, stopping)
    if (fetched === null) await settleUnchanged(context, feed)
    else await settleRead(context, feed, { url: feed.url, fetched, feed: readFeed(fetched) })
  } catch (error) {
    if (stopping.aborted) return releaseLook(context.pg, feed)
    if (!(error instanceof FeedRefused)) throw error
    await settleFailed(context, feed, error)
  }
}
