/**
 * Whether a post can be published as it is, by the table of providers. Decides only; who asks has read what it needs.
 * Held by test/unit/readiness.test.ts and test/property/post-input.test.ts; docs/posts.md says the same to users.
 */

import type { SocialAccount } from '../../postgres/tables/accounts/social-accounts.ts'
import type { PostedMedia } from '../../postgres/tables/posts/posts.ts'
import { isBlank, lengthOf } from '../../schemas/code-points.ts'
import { counted } from '../../schemas/errors/validation-errors.ts'
import { type CaptionCount, captionCounts } from '../../schemas/reference/caption-counts.ts'
import { byteLength, type CaptionCounter, makeCaptionCounter } from '../../schemas/reference/caption-lengths.ts'
import {
  captionLengthMaxOf,
  kindOf,
  type MediaKind,
  type Platform,
  type Provider,
  providers,
} from '../../schemas/reference/providers.ts'
import type { Choice, Placed } from './choice.ts'
import { errorsAmong, type Issue, type IssueCode } from './issue.ts'

export interface Content extends Pick<Choice, 'media' | 'accounts' | 'captions' | 'thread'> {
  readonly baseCaption: string
  readonly firstComment: string | null
}

/** A text as an account's platform gets it, and its length there. */
interface Counted {
  readonly caption: string
  readonly characterCount: number
}

interface JudgedTarget extends Counted {
  readonly account: SocialAccount
  /** The parts that follow. */
  readonly thread: readonly Counted[]
  /** Null where none is published. */
  readonly comment: Counted | null
  readonly isValid: boolean
}

export interface Readiness {
  readonly issues: readonly Issue[]
  readonly targets: readonly JudgedTarget[]
}

export function judgeReadiness(content: Content): Readiness {
  const { accounts } = content
  const count = makeCaptionCounter()
  const judged = accounts.map((account) => judgeTarget(account, content, count))
  const isAnyConnected = accounts.some(({ status }) => status === 'connected')
  const none: Issue = {
    loc: ['body', 'social_account_ids'],
    code: 'no_connected_account',
    message: 'At least one connected account is needed',
    platform: null,
    accountId: null,
    input: accounts.map(({ id }) => id),
  }
  return {
    issues: [...(isAnyConnected ? [] : [none]), ...judged.flatMap(({ issues }) => issues)],
    targets: judged.map(({ target }) => target),
  }
}

/** The time of a post that is to be published by itself. */
export function judgeTime(scheduledAt: Date, now: number, input: unknown): Issue[] {
  if (scheduledAt.getTime() > now) return []
  const message = 'The time must lie in the future'
  return [
    {
      loc: ['body', 'scheduled_at'],
      code: 'scheduled_in_past',
      message,
      platform: null,
      accountId: null,
      input,
    },
  ]
}

type Report = (code: IssueCode, path: readonly (string | number)[], message: string, input: unknown) => void

function judgeTarget(account: Placed<SocialAccount>, content: Content, count: CaptionCounter) {
  const { baseCaption, thread, captions, media, firstComment } = content
  const provider = providers[account.platform]
  const issues: Issue[] = []
  const report: Report = (code, path, message, input) => {
    const of = { platform: account.platform, accountId: account.id }
    issues.push({ loc: ['body', ...path], code, message, ...of, input })
  }
  judgeAccount(account, report)
  const override = captions.get(account.platform)
  const caption = override ?? baseCaption
  const lengthOn = (text: string) => count(provider.captionCounting, text)
  const characterCount = lengthOn(caption)
  judgeCaption(provider, { text: caption, count: characterCount, mediaCount: media.length }, (code, message) => {
    const path = override === undefined ? ['base_caption'] : ['platform_captions', account.platform]
    report(code, path, message, caption)
  })
  judgeMedia(provider, media, report)
  const parts = thread.map(({ text, captions }) => {
    const own = captions.get(account.platform) ?? text
    return { caption: own, characterCount: lengthOn(own) }
  })
  judgeThread(account.platform, caption, thread, parts, report)
  const comment = judgeComment(provider, firstComment, report)
  const isValid = account.status === 'connected' && errorsAmong(issues).length === 0
  return { issues, target: { account, caption, characterCount, thread: parts, comment, isValid } }
}

interface JudgedCaption {
  readonly text: string
  readonly count: number
  readonly mediaCount: number
}

function judgeCaption(
  provider: Provider,
  { text, count, mediaCount }: JudgedCaption,
  refuse: (code: IssueCode, message: string) => void,
  named = 'this one',
): void {
  const { label, captionCounting, captionBytesMax, mediaCaptionLengthMax, countsMax = {} } = provider
  if (mediaCount === 0 && isBlank(text)) {
    refuse('caption_blank', `${label} takes no caption without a visible character, unless it has an image or a video`)
  }
  for (const [name, most] of Object.entries(countsMax) as [CaptionCount, number][]) {
    const found = captionCounts[name](text)
    const message = `${label} takes captions with at most ${most} ${name}, ${named} has ${found}`
    if (found > most) refuse(`too_many_${name}`, message)
  }
  const unit = captionCounting === 'bytes' ? 'bytes' : 'characters'
  const max = captionLengthMaxOf(provider, mediaCount)
  if (count > max) {
    const under = mediaCount > 0 && mediaCaptionLengthMax !== undefined ? ' under images and videos' : ''
    refuse('caption_too_long', `${label} takes captions of at most ${max} ${unit}${under}, ${named} has ${count}`)
    return
  }
  const bytes = captionBytesMax === null ? 0 : byteLength(text)
  if (captionBytesMax !== null && bytes > captionBytesMax) {
    const message = `${label} takes captions of at most ${captionBytesMax} bytes, ${named} has ${bytes}`
    refuse('caption_too_long', message)
  }
}

function judgeThread(
  platform: Platform,
  caption: string,
  thread: Content['thread'],
  counted: readonly Counted[],
  report: Report,
): void {
  if (thread.length === 0) return
  const provider = providers[platform]
  const { label, takesThreads, refusesRepeats } = provider
  const texts = counted.map((part) => part.caption)
  if (!takesThreads) {
    report('thread_not_taken', ['thread'], `${label} takes no threads, only the caption`, texts)
    return
  }
  // The caption is the first part.
  for (const [at, { caption: text, characterCount }] of counted.entries()) {
    const { captions, media } = thread[at]!
    const place = ['thread', at]
    const textPlace = captions.has(platform) ? [...place, 'platform_captions', platform] : place
    const refuse = (code: IssueCode, message: string) => report(code, textPlace, message, text)
    judgeCaption(provider, { text, count: characterCount, mediaCount: media.length }, refuse, `part ${at + 2}`)
    const same = [caption, ...texts].findIndex((one) => one.trim() === text.trim())
    if (refusesRepeats && same <= at) {
      report('thread_repeats', textPlace, `${label} refuses a text twice: part ${at + 2} is part ${same + 1}`, text)
    }
    judgeMedia(provider, media, (code, path, message, input) =>
      report(code, [...place, ...path], `Part ${at + 2}: ${message}`, input),
    )
  }
}

/** Where no comments are published, the post is published without it. */
function judgeComment({ label, commentLengthMax }: Provider, text: string | null, report: Report): Counted | null {
  if (text === null) return null
  if (commentLengthMax === null) {
    report('comment_not_taken', ['first_comment'], `No first comment is published on ${label}`, text)
    return null
  }
  const characterCount = lengthOf(text)
  if (characterCount > commentLengthMax) {
    const message = `${label} takes comments of at most ${commentLengthMax} characters, this one has ${characterCount}`
    report('comment_too_long', ['first_comment'], message, text)
  }
  return { caption: text, characterCount }
}

function judgeAccount({ at, id, status, health_status, health_message }: Placed<SocialAccount>, report: Report): void {
  const path = ['social_account_ids', at]
  if (status !== 'connected') report('account_not_connected', path, `The account is ${status}`, id)
  else if (health_status === 'error') {
    report('account_unhealthy', path, health_message || 'The last calls for this account failed', id)
  }
}

const missingCodes = { media: 'media_missing', image: 'image_missing', video: 'video_missing' } as const
const missingTexts = { media: 'an image or a video', image: 'an image', video: 'a video' } as const

/** Those of the caption or of another part. */
function judgeMedia(provider: Provider, media: readonly Placed<PostedMedia>[], report: Report): void {
  judgeCounts(provider, media, report)
  for (const asset of media) judgeAsset(provider, asset, media.length === 1, report)
}

function judgeCounts(
  { label, needs, image, video, mixedMax }: Provider,
  media: readonly PostedMedia[],
  report: Report,
): void {
  const ids = media.map(({ id }) => id)
  const path = ['media_ids']
  const count = (kind: MediaKind) => media.filter(({ content_type }) => kindOf(content_type) === kind).length
  const [images, videos] = [count('image'), count('video')]
  const needed = { media: images + videos, image: images, video: videos }
  if (needs !== null && needed[needs] === 0) {
    report(missingCodes[needs], path, `${label} needs ${missingTexts[needs]}`, ids)
  }
  // Kinds that it doesn't take at all are told of each asset.
  if (image !== null && images > image.countMax) {
    report(
      'too_many_images',
      path,
      `${label} takes at most ${counted(image.countMax, 'image')}, these are ${images}`,
      ids,
    )
  }
  if (video !== null && videos > video.countMax) {
    report(
      'too_many_videos',
      path,
      `${label} takes at most ${counted(video.countMax, 'video')}, these are ${videos}`,
      ids,
    )
  }
  if (image === null || video === null || images === 0 || videos === 0) return
  if (mixedMax === null) report('media_mixed', path, `${label} takes images or videos, not both in one post`, ids)
  else if (images + videos > mixedMax) {
    const message = `${label} takes at most ${mixedMax} images and videos together, these are ${images + videos}`
    report('too_many_media', path, message, ids)
  }
}

function judgeAsset(provider: Provider, asset: Placed<PostedMedia>, isAlone: boolean, report: Report): void {
  const { at, id, content_type, size_bytes, alt_text } = asset
  const { label, altTextLengthMax } = provider
  const kind = kindOf(content_type)
  const limits = provider[kind]
  const path = ['media_ids', at]
  if (!limits?.contentTypes.includes(content_type)) {
    report('media_kind', path, `${label} takes no ${limits === null ? `${kind}s` : content_type}`, id)
    return
  }
  if (size_bytes > limits.bytesMax) {
    const message = `${label} takes ${kind}s of at most ${limits.bytesMax} bytes, this one has ${size_bytes}`
    report('media_too_large', path, message, id)
  }
  if (altTextLengthMax !== null) {
    const length = lengthOf(alt_text)
    if (length > altTextLengthMax) {
      const message = `${label} takes alternative texts of at most ${altTextLengthMax} characters, this one has ${length}`
      report('alt_text_too_long', path, message, id)
    }
    if (kind === 'image' && length === 0) {
      report('alt_text_missing', path, 'The image has no alternative text', id)
    }
  }
  if (kind === 'image' && isBeyondSides(provider, asset)) {
    report('image_shape', path, `${label} takes no image of this size or shape`, id)
  } else if (kind === 'image' && isOddlyShaped(provider, asset)) {
    if (isAlone) report('image_shape', path, `${label} takes no image of this shape`, id)
    else report('image_cropped', path, `${label} crops images of this shape`, id)
  }
}

function isOddlyShaped({ aspectRatio }: Provider, { width, height }: PostedMedia): boolean {
  if (aspectRatio === null || !width || !height) return false
  const ratio = width / height
  return ratio < aspectRatio.min || ratio > aspectRatio.max
}

function isBeyondSides({ imageSides }: Provider, { width, height }: PostedMedia): boolean {
  if (imageSides === undefined || !width || !height) return false
  const { sumMax = Infinity, ratioMax = Infinity, pixelsMax = Infinity } = imageSides
  const isLong = width + height > sumMax || Math.max(width / height, height / width) > ratioMax
  return isLong || width * height > pixelsMax
}
