/** The editor's state of a post until it is saved. */
import type { PostResource } from '../../../schemas/resources/post.ts'
import type { SocialAccountResource } from '../../../schemas/resources/social-account.ts'
import { localMoment } from '../parts/format.ts'

export type Post = (typeof PostResource)['_output']
export type Account = (typeof SocialAccountResource)['_output']

/** A part of the thread that follows the caption. */
export interface DraftPart {
  /** Names it while it is written, wherever it stands. */
  readonly key: number
  readonly text: string
  readonly media_ids: readonly number[]
  /** In place of the text, by network. */
  readonly platform_captions: Readonly<Record<string, string>>
}

/** As `POST /v1/posts` takes it, but for the keys of parts. */
export interface Draft {
  readonly title: string
  readonly base_caption: string
  readonly thread: readonly DraftPart[]
  readonly first_comment: string | null
  /** Local to the workspace, without an offset; null without a time. */
  readonly scheduled_at: string | null
  readonly social_account_ids: readonly number[]
  readonly media_ids: readonly number[]
  readonly platform_captions: Readonly<Record<string, string>>
  readonly tags: readonly string[]
}

export type SentDraft = Omit<Draft, 'thread'> & { readonly thread: readonly Omit<DraftPart, 'key'>[] }

let keys = 0

/** A part that is in no thread yet. */
export function newPart(more: Partial<DraftPart> = {}): DraftPart {
  keys += 1
  return { text: '', media_ids: [], platform_captions: {}, ...more, key: keys }
}

/** A new post. */
export const fresh: Draft = {
  title: '',
  base_caption: '',
  thread: [],
  first_comment: null,
  scheduled_at: null,
  social_account_ids: [],
  media_ids: [],
  platform_captions: {},
  tags: [],
}

/** The editor's state of it. The time at which one failed is over. */
export function draftOf(post: Post, timezone: string): Draft {
  const { title, base_caption, thread, first_comment, status, scheduled_at, targets, media_ids, tags } = post
  return {
    title,
    base_caption,
    thread: thread.map(newPart),
    first_comment,
    media_ids,
    tags,
    scheduled_at: scheduled_at === null || status === 'failed' ? null : localMoment(scheduled_at, timezone),
    social_account_ids: targets.map(({ social_account_id: id }) => id),
    platform_captions: captionsOf(targets),
  }
}

/** The texts of `tracked`, where those of `sent` weren't changed since. */
export function withTracked(now: Draft, sent: Draft, tracked: Draft): Draft {
  const unlessTyped = <Name extends 'base_caption' | 'first_comment'>(name: Name) =>
    now[name] === sent[name] ? tracked[name] : now[name]
  const thread = now.thread.map((part) => {
    const at = sent.thread.findIndex(({ key }) => key === part.key)
    const [before, after] = [sent.thread[at], tracked.thread[at]]
    if (before === undefined || after === undefined) return part
    const text = part.text === before.text ? after.text : part.text
    return { ...part, text, platform_captions: captionsWithTracked(part, before, after, part.text === before.text) }
  })
  const isSame = now.base_caption === sent.base_caption
  const platform_captions = captionsWithTracked(now, sent, tracked, isSame)
  const shared = { base_caption: unlessTyped('base_caption'), first_comment: unlessTyped('first_comment') }
  return { ...now, ...shared, thread, platform_captions }
}

type Captioned = Pick<DraftPart, 'platform_captions'>

/** @param isSame the text that stands for networks without one of their own wasn't changed */
function captionsWithTracked(
  now: Captioned,
  sent: Captioned,
  tracked: Captioned,
  isSame: boolean,
): Captioned['platform_captions'] {
  const changed = Object.entries(tracked.platform_captions).filter(([platform]) => {
    const before = sent.platform_captions[platform]
    return now.platform_captions[platform] === before && (before !== undefined || isSame)
  })
  return { ...now.platform_captions, ...Object.fromEntries(changed) }
}

/** How many texts of its thread any network shows. */
export function textsPublished({ targets }: Post): number {
  return Math.max(0, ...targets.map((target) => partsOf(target) - 1))
}

const partsOf = ({ publish_result }: Post['targets'][number]) => partsIn(publish_result)?.length ?? 0

/** Whether the network shows the post, or the first part of its thread: that target keeps what it shows. */
export function isBegun(target: Post['targets'][number]): boolean {
  return target.status === 'published' || partsOf(target) > 0
}

/** By network. Published targets keep their captions, so the caption of a waiting target counts. */
function captionsOf(targets: Post['targets']): Draft['platform_captions'] {
  const inOrder = [...targets].sort((a, b) => Number(isBegun(b)) - Number(isBegun(a)))
  const captions = new Map(inOrder.map(({ platform, caption_override: text }) => [platform, text]))
  return Object.fromEntries([...captions].flatMap(([platform, text]) => (text === null ? [] : [[platform, text]])))
}

/**
 * The request's body. The editor keeps the captions of a network whose accounts are all unticked, for when one is ticked
 * again, and parts of the thread that nobody has written yet.
 */
export function asSent(draft: Draft, accounts: readonly Account[] | undefined): SentDraft {
  const chosen = accounts?.filter(({ id }) => draft.social_account_ids.includes(id))
  const captionsOfChosen = (captions: Draft['platform_captions']) =>
    Object.fromEntries(
      Object.entries(captions).filter(([name]) => chosen?.some(({ platform }) => platform === name) ?? true),
    )
  const written = draft.thread.filter(({ text, media_ids }) => text.trim() !== '' || media_ids.length > 0)
  return {
    ...draft,
    first_comment: draft.first_comment?.trim() ? draft.first_comment : null,
    tags: draft.tags.map((tag) => tag.trim()).filter((tag) => tag !== ''),
    platform_captions: captionsOfChosen(draft.platform_captions),
    thread: written.map(({ text, media_ids, platform_captions }) => {
      return { text, media_ids, platform_captions: captionsOfChosen(platform_captions) }
    }),
  }
}

/** The request's body for another draft that says the same, to the same accounts, without a time. */
export function copyOf(post: Post): SentDraft {
  return { ...asSent(draftOf(post, 'UTC'), undefined), scheduled_at: null }
}

export interface PublishedPart {
  readonly url: string
}

/** The published parts of a thread; undefined where there are none, or the post has no thread. */
export function partsIn(result: Readonly<Record<string, unknown>>): readonly PublishedPart[] | undefined {
  return result['parts'] as readonly PublishedPart[] | undefined
}
