/**
 * Writes what came of a look at a feed: its new entries, their posts and the feed's state, in one transaction. A process that dies
 * in it has written nothing, and the next look finds the same entries new. Each entry is a unique row, so it makes one post.
 */
import type { Postgres, Queryable } from '../../postgres/client.ts'
import { tellFailure } from '../../postgres/tables/messages/failure-alerts.ts'
import {
  countPosts,
  endLook,
  failLook,
  forgetEntries,
  isFeedKnown,
  type LeasedFeed,
  lockLeasedFeed,
  noteEntries,
} from '../../postgres/tables/posts/feed-looks.ts'
import { appendSystemChange } from '../../postgres/tables/workspaces/audit.ts'
import { lockWorkspace } from '../../postgres/tables/workspaces/workspaces.ts'
import type { Clock } from '../../runtime/clock.ts'
import { backoffMs } from '../../runtime/retry.ts'
import {
  feedEveryMs,
  feedFailingMaxMs,
  feedGoneEntriesKept,
  feedJitterShare,
  feedPostsADay,
  feedPostsEach,
  feedRetryMaxMs,
} from '../../schemas/limits/feed-limits.ts'
import { day } from '../../schemas/limits/units.ts'
import { type FeedNews, scopesOfFeed } from '../../schemas/resources/feed.ts'
import { scopesOfRoles } from '../../schemas/roles.ts'
import type { FeedRefused } from './fetch-feed.ts'
import type { FoundFeed } from './find-feed.ts'
import { type MadePost, makePost } from './make-post.ts'
import type { FeedEntry } from './read-feed.ts'

export interface LookContext {
  readonly pg: Postgres
  readonly clock: Clock
  /** Empty where it isn't known. */
  readonly apiHost: string
  /** The same. */
  readonly shortUrlHost: string
  readonly isMailSetUp: boolean
  /** After a restore: what feeds had before it may have been published. */
  readonly holdBefore?: Date | undefined
}

/** The feed is as it was at the last look. */
export function settleUnchanged({ pg, clock }: LookContext, feed: LeasedFeed): Promise<void> {
  return endLook(pg, feed, lookTimes(clock.now()))
}

/** Nothing is written where the lease has ended. */
export function settleRead(
  context: LookContext,
  leased: LeasedFeed,
  { url, fetched, feed: { title, entries } }: FoundFeed,
): Promise<void> {
  const { pg, clock, apiHost, shortUrlHost, holdBefore } = context
  return pg.transaction(async (tx) => {
    const now = clock.now()
    // The workspace comes first, as where it is deleted. Posts that are queued at once would take the same time.
    await lockWorkspace(tx, leased.workspace.id)
    const feed = await lockLeasedFeed(tx, leased)
    if (feed === null) return
    const refusal = refusalOf(feed)
    if (refusal !== null) return turnOff(tx, context, feed, refusal)
    // Two feeds of one URL would make each post twice.
    if (url !== feed.url && (await isFeedKnown(tx, feed.workspace.id, url))) {
      return turnOff(tx, context, feed, 'The workspace already has the feed that this page names')
    }
    const fresh = await newAmong(tx, feed, entries, new Date(now))
    const isFirst = feed.read_at === null
    const wanted = isFirst ? fresh.slice(fresh.length - Number(feed.posts_newest)) : fresh
    // The newest of them: what was new a year ago, and is new to us, is of a site that was moved.
    const room = wanted.length > 0 ? await roomOf(tx, feed, now) : 0
    const taken = wanted.slice(wanted.length - Math.min(wanted.length, room))
    const made: MadePost[] = []
    const isHeld = holdBefore !== undefined && (feed.read_at ?? feed.created_at) < holdBefore
    const making = { tx, feed, clock, apiHost, shortUrlHost, isHeld }
    for (const entry of taken) made.push(await makePost(making, entry))
    const news = newsOf(made, { skipped: wanted.length - taken.length, isFull: room < feedPostsEach }, now)
    const { etag, lastModified } = fetched
    await endLook(tx, leased, lookTimes(now), { url, title, etag, lastModified, news })
    await auditPosts(tx, feed, made)
  })
}

/** Oldest first. */
async function newAmong(
  tx: Queryable,
  feed: LeasedFeed,
  entries: readonly FeedEntry[],
  now: Date,
): Promise<FeedEntry[]> {
  const keys = entries.map(({ key }) => key)
  const unknown = new Set((await noteEntries(tx, feed.id, keys, now)).map((key) => key.toString('hex')))
  await forgetEntries(tx, feed.id, now, feedGoneEntriesKept)
  return entries.filter(({ key }) => unknown.has(key.toString('hex')))
}

/** Posts that the feed may make at this look. */
async function roomOf(tx: Queryable, { id }: LeasedFeed, now: number): Promise<number> {
  return Math.min(feedPostsEach, Math.max(0, feedPostsADay - (await countPosts(tx, id, new Date(now - day)))))
}

interface Skipping {
  readonly skipped: number
  /** The feed has made almost as many posts as it may in a day. */
  readonly isFull: boolean
}

function newsOf(made: readonly MadePost[], { skipped, isFull }: Skipping, now: number): FeedNews | null {
  if (made.length === 0 && skipped === 0) return null
  const notes = new Set(made.flatMap((post) => post.notes))
  if (isFull && skipped > 0) notes.add(`A feed makes at most ${feedPostsADay} posts a day`)
  const note = notes.size === 0 ? null : [...notes].join('; ')
  return { at: new Date(now).toISOString(), posts: made.length, skipped, note }
}

/** Last in its transaction: other changes of the workspace wait for the end of its audit chain. */
async function auditPosts(tx: Queryable, { id, workspace }: LeasedFeed, made: readonly MadePost[]): Promise<void> {
  for (const post of made) {
    const common = { workspaceId: workspace.id, actorName: 'pipeline', resourceId: post.id, metadata: { feed_id: id } }
    await appendSystemChange(tx, { ...common, action: 'post.create' })
    if (post.linkId !== null) {
      await appendSystemChange(tx, { ...common, action: 'link.create', resourceId: post.linkId })
    }
    if (post.isQueued) await appendSystemChange(tx, { ...common, action: 'post.queue' })
  }
}

/** The feed could not be read: it is looked at again, later and later, and turned off after days. */
export async function settleFailed(
  context: LookContext,
  feed: LeasedFeed,
  { message, waitMs }: FeedRefused,
): Promise<void> {
  const now = context.clock.now()
  const isOver = feed.failing_since !== null && now - feed.failing_since.getTime() >= feedFailingMaxMs
  if (isOver) return settleRefused(context, feed, message)
  const nextLookAt = new Date(now + Math.max(waitMs, backoffMs(feed.failures, feedEveryMs, feedRetryMaxMs)))
  await failLook(context.pg, feed, { lookedAt: new Date(now), nextLookAt }, { message, isOver })
}

/** The feed is turned off. */
export function settleRefused(context: LookContext, feed: LeasedFeed, message: string): Promise<void> {
  return context.pg.transaction((tx) => turnOff(tx, context, feed, message))
}

async function turnOff(
  tx: Queryable,
  { clock, isMailSetUp }: Pick<LookContext, 'clock' | 'isMailSetUp'>,
  feed: LeasedFeed,
  message: string,
): Promise<void> {
  const now = new Date(clock.now())
  const workspaceId = feed.workspace.id
  if (!(await failLook(tx, feed, { lookedAt: now, nextLookAt: now }, { message, isOver: true }))) return
  await tellFailure(tx, { workspaceId, kind: 'feed', subjectId: feed.id }, { now, withMails: isMailSetUp })
  await appendSystemChange(tx, {
    workspaceId,
    actorName: 'pipeline',
    action: 'feed.fail',
    resourceId: feed.id,
    metadata: {},
  })
}

/** Why the feed must make no posts. A feed does what the member who set it up may do now. */
export function refusalOf(feed: LeasedFeed): string | null {
  if (feed.role === null) return 'Whoever set the feed up is no member any more'
  const held: readonly string[] = scopesOfRoles[feed.role]
  const isAllowed = scopesOfFeed(feed).every((scope) => held.includes(scope))
  return isAllowed ? null : 'Whoever set the feed up may not do any more what it does'
}

/** When it was looked at, and when it is next. Jitter spreads the looks at feeds that were added together. */
function lookTimes(now: number) {
  const jitter = (2 * Math.random() - 1) * feedJitterShare
  return { lookedAt: new Date(now), nextLookAt: new Date(now + feedEveryMs * (1 + jitter)) }
}
