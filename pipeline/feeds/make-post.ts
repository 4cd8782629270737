/** Makes the post of a feed's entry, as the API makes posts: with its webhooks, its short link, and its place in the queue. */
import { makeLinks } from '../../authoring/links/new-links.ts'
import { makePost as makeDraft } from '../../authoring/posts/new-post.ts'
import { scheduleNext } from '../../authoring/posts/next-free-time.ts'
import type { Queryable } from '../../postgres/client.ts'
import { readSocialAccounts, type SocialAccount } from '../../postgres/tables/accounts/social-accounts.ts'
import { serializeLink } from '../../postgres/tables/links/serialize-link.ts'
import { type LeasedFeed, setPostFeed } from '../../postgres/tables/posts/feed-looks.ts'
import { setPostTargets } from '../../postgres/tables/posts/post-targets.ts'
import { readPost, updatePostFields } from '../../postgres/tables/posts/posts.ts'
import { serializePost } from '../../postgres/tables/posts/serialize-post.ts'
import { insertOutbox } from '../../postgres/tables/webhooks/outbox.ts'
import type { Clock } from '../../runtime/clock.ts'
import { Problem } from '../../schemas/errors/problems.ts'
import { linkLabelLengthMax, postTitleLengthMax } from '../../schemas/limits/api-limits.ts'
import { LinkCreate } from '../../schemas/resources/link.ts'
import { PostCreate } from '../../schemas/resources/post.ts'
import { captionsOf } from './entry-caption.ts'
import { cut } from './plain-text.ts'
import type { EntryTexts, FeedEntry } from './read-feed.ts'

export interface Making {
  readonly tx: Queryable
  readonly feed: LeasedFeed
  readonly clock: Clock
  /** Empty where it isn't known. */
  readonly apiHost: string
  /** The same: then links stay as they are. */
  readonly shortUrlHost: string
  /** It may have been published before a restore: people decide. */
  readonly isHeld: boolean
}

export interface MadePost {
  readonly id: number
  /** Its short link; null where it has none. */
  readonly linkId: number | null
  readonly isQueued: boolean
  /** Why it isn't, though it should be. */
  readonly notes: readonly string[]
}

/** The workspace is locked. */
export async function makePost(making: Making, entry: FeedEntry): Promise<MadePost> {
  const { tx, feed, clock, isHeld } = making
  const texts = entry.texts()
  const accounts = await chosenAccounts(tx, feed)
  const title = cut(texts.title || texts.link || 'Without a title', postTitleLengthMax)
  const written = captionsOf(feed.template, texts, platformsOf(accounts))
  const draft = await makeDraft(
    tx,
    feed.workspace,
    PostCreate.parse({
      title,
      base_caption: written.base,
      platform_captions: written.byPlatform,
      social_account_ids: accounts.map(({ id }) => id),
    }),
  )
  await setPostFeed(tx, draft.id, feed.id)
  const linkId = await shorten(making, { id: draft.id, title, texts, accounts })
  const post = (await readPost(tx, feed.workspace.id, draft.id))!
  await insertOutbox(tx, feed.workspace.id, 'post.created', serializePost(post))
  const made = { id: post.id, linkId }
  if (feed.mode === 'draft') return { ...made, isQueued: false, notes: [] }
  if (isHeld) return { ...made, isQueued: false, notes: ['It may have been published before the restore'] }
  try {
    const queued = await scheduleNext(tx, feed.workspace, post, clock.now())
    await insertOutbox(tx, feed.workspace.id, 'post.scheduled', serializePost(queued))
    return { ...made, isQueued: true, notes: [] }
  } catch (error) {
    if (!(error instanceof Problem) || error.status >= 500) throw error
    return { ...made, isQueued: false, notes: notesOf(error) }
  }
}

/** In their order. An account that the workspace has no more is left out. */
async function chosenAccounts(tx: Queryable, feed: LeasedFeed): Promise<SocialAccount[]> {
  const ids = feed.social_account_ids
  const accounts = ids.length > 0 ? await readSocialAccounts(tx, feed.workspace.id, ids) : []
  return ids.flatMap((id) => accounts.find((account) => account.id === id) ?? [])
}

function platformsOf(accounts: readonly SocialAccount[]) {
  return accounts.map(({ platform }) => platform)
}

interface Shortening {
  readonly id: number
  readonly title: string
  readonly texts: EntryTexts
  readonly accounts: readonly SocialAccount[]
}

/**
 * The captions are written anew with the short link, which is mostly shorter. One that can't be made leaves them as they are.
 * @returns the link's id, or null
 */
async function shorten(
  { tx, feed, clock, apiHost, shortUrlHost }: Making,
  { id, title, texts, accounts }: Shortening,
): Promise<number | null> {
  if (!feed.shortens_links || shortUrlHost === '' || !feed.template.includes('{link}')) return null
  const sent = LinkCreate.safeParse({
    label: cut(title, linkLabelLengthMax),
    destination_url: texts.link,
    post_id: id,
    social_account_id: accounts.length === 1 ? accounts[0]!.id : null,
  })
  if (!sent.success) return null
  const context = { workspace: feed.workspace, clock, stores: { pg: tx }, config: { apiHost, shortUrlHost } }
  const link = await makeLinks([[['body'], sent.data]], context).then(
    ([made]) => made!,
    (error) => {
      // The entry's own link is a short one.
      if (error instanceof Problem && error.status < 500) return null
      throw error
    },
  )
  if (link === null) return null
  const shown = serializeLink(link, shortUrlHost)
  await insertOutbox(tx, feed.workspace.id, 'link.created', shown)
  const { base, byPlatform } = captionsOf(feed.template, { ...texts, link: shown.post_url }, platformsOf(accounts))
  await updatePostFields(tx, id, {
    title,
    baseCaption: base,
    thread: [],
    firstComment: null,
    scheduledAt: null,
    tags: [],
  })
  const targets = accounts.map((account) => ({
    accountId: account.id,
    captionOverride: byPlatform[account.platform] ?? null,
  }))
  await setPostTargets(tx, id, targets, 'draft')
  return link.id
}

/** For people: without what clients of the API know a fault by. */
function notesOf({ detail }: Problem): string[] {
  return typeof detail === 'string' ? [detail] : detail.map(({ msg }) => msg.replace(/^Value error, /, ''))
}
