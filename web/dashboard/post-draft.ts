/** The editor's state of a post until it is saved. */
import type { PostResource } from '../../schemas/resources/post.ts'
import type { SocialAccountResource } from '../../schemas/resources/social-account.ts'
import { localMoment } from './format.ts'
import { partsIn } from './post-thread.tsx'

export type Post = (typeof PostResource)['_output']
export type Account = (typeof SocialAccountResource)['_output']

/** As `POST /v1/posts` takes it. */
export interface Draft {
  readonly title: string
  readonly base_caption: string
  /** The texts that follow the caption. */
  readonly thread: readonly string[]
  /** Local to the workspace, without an offset; null without a time. */
  readonly scheduled_at: string | null
  readonly social_account_ids: readonly number[]
  readonly media_ids: readonly number[]
  readonly platform_captions: Readonly<Record<string, string>>
  readonly tags: readonly string[]
}

/** A new post. */
export const fresh: Draft = {
  ...{ title: '', base_caption: '', thread: [], scheduled_at: null },
  ...{ social_account_ids: [], media_ids: [], platform_captions: {}, tags: [] },
}

export function draftOf(post: Post, timezone: string): Draft {
  const { title, base_caption, thread, scheduled_at, targets, media_ids, tags } = post
  return {
    ...{ title, base_caption, thread, media_ids, tags },
    scheduled_at: scheduled_at === null ? null : localMoment(scheduled_at, timezone),
    social_account_ids: targets.map(({ social_account_id: id }) => id),
    platform_captions: captionsOf(targets),
  }
}

/** The texts of `tracked`, where those of `sent` weren't changed since. */
export function withTracked(now: Draft, sent: Draft, tracked: Draft): Draft {
  const captions = Object.entries(now.platform_captions).map(([platform, text]) => [
    platform,
    text === sent.platform_captions[platform] ? (tracked.platform_captions[platform] ?? text) : text,
  ])
  const base_caption = now.base_caption === sent.base_caption ? tracked.base_caption : now.base_caption
  const thread = now.thread.map((text, at) => (text === sent.thread[at] ? (tracked.thread[at] ?? text) : text))
  return { ...now, base_caption, thread, platform_captions: Object.fromEntries(captions) }
}

/** How many texts of its thread any network shows. */
export function textsPublished({ targets }: Post): number {
  return Math.max(0, ...targets.map((target) => partsOf(target) - 1))
}

const partsOf = ({ publish_result }: Post['targets'][number]) => partsIn(publish_result)?.length ?? 0

/** By network. A target that is published, or its first part, keeps its own, so that of one that waits counts. */
function captionsOf(targets: Post['targets']): Draft['platform_captions'] {
  const isBegun = (target: Post['targets'][number]) => target.status === 'published' || partsOf(target) > 0
  const inOrder = [...targets].sort((a, b) => Number(isBegun(b)) - Number(isBegun(a)))
  const captions = new Map(inOrder.map(({ platform, caption_override: text }) => [platform, text]))
  return Object.fromEntries([...captions].flatMap(([platform, text]) => (text === null ? [] : [[platform, text]])))
}

/**
 * The request's body. The editor keeps the caption of a network whose accounts are all unticked, for when one is ticked
 * again, and texts of the thread that nobody has written yet.
 */
export function asSent(draft: Draft, accounts: readonly Account[] | undefined): Draft {
  const tags = draft.tags.map((tag) => tag.trim()).filter((tag) => tag !== '')
  const thread = draft.thread.filter((text) => text.trim() !== '')
  if (accounts === undefined) return { ...draft, thread, tags }
  const chosen = accounts.filter(({ id }) => draft.social_account_ids.includes(id))
  const captions = Object.entries(draft.platform_captions).filter(([name]) =>
    chosen.some(({ platform }) => platform === name),
  )
  return { ...draft, thread, tags, platform_captions: Object.fromEntries(captions) }
}
