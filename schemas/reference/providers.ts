/**
 * The limits of each platform: the one table that readiness, previews and docs/posts.md go by. Figures are those that
 * the platforms publish for their APIs (2026). Captions are counted as each platform does, alternative texts in code
 * points.
 */
import type { CaptionCount } from './caption-counts.ts'
import type { CaptionCounting } from './caption-lengths.ts'
import type { CommentedPlatform } from './commented-platforms.ts'

const MB = 1_000_000
const GB = 1_000 * MB

export const platforms = [
  'x',
  'bluesky',
  'threads',
  'mastodon',
  'instagram',
  'facebook',
  'linkedin',
  'pinterest',
  'youtube',
  'tiktok',
  'telegram',
  'discord',
] as const
export type Platform = (typeof platforms)[number]

export type MediaKind = 'image' | 'video'

/** Images or videos of one post. */
export interface KindLimits {
  readonly countMax: number
  readonly bytesMax: number
  readonly contentTypes: readonly string[]
}

export interface Provider {
  readonly label: string
  readonly captionLengthMax: number
  /** The bound of a caption under media, where that is another one. */
  readonly mediaCaptionLengthMax?: number
  readonly captionCounting: CaptionCounting
  /** Bytes of a caption in UTF-8, beside its length; null: no bound. */
  readonly captionBytesMax: number | null
  /** The most of each that a caption may have, where there is a bound. */
  readonly countsMax?: Readonly<Partial<Record<CaptionCount, number>>>
  /** Whether a post may go on in replies of its own. */
  readonly takesThreads: boolean
  /** Code points of the account's own comment under its post; null: none is published there. */
  readonly commentLengthMax: number | null
  /** Whether a text that was just published is refused. */
  readonly refusesRepeats: boolean
  /** The media without which a post is refused. */
  readonly needs: MediaKind | 'media' | null
  /** Null: takes none. */
  readonly image: KindLimits | null
  readonly video: KindLimits | null
  /** Images and videos of one post together; null: it holds either or. */
  readonly mixedMax: number | null
  /** Null: alternative texts aren't passed on. */
  readonly altTextLengthMax: number | null
  /** Width by height of a post's only image; another is refused. Images of a carousel are cropped. */
  readonly aspectRatio: { readonly min: number; readonly max: number } | null
  /** Bounds of any image, if any: width plus height, the longer side divided by the shorter, and width times height. */
  readonly imageSides?: { readonly sumMax?: number; readonly ratioMax?: number; readonly pixelsMax?: number }
}

/** The list of networks with comments and this table can't differ. */
interface CommentBound<Name extends Platform> {
  readonly commentLengthMax: Name extends CommentedPlatform ? number : null
}

const pictures = ['image/jpeg', 'image/png']
const films = ['video/mp4', 'video/quicktime']

/** The fields as most platforms have them. */
const usual = {
  captionBytesMax: null,
  takesThreads: false,
  commentLengthMax: null,
  refusesRepeats: false,
  needs: null,
  mixedMax: null,
  aspectRatio: null,
}

export const providers: Readonly<Record<Platform, Provider>> = {
  x: {
    ...usual,
    label: 'X',
    captionLengthMax: 280,
    captionCounting: 'x',
    takesThreads: true,
    refusesRepeats: true,
    image: { countMax: 4, bytesMax: 5 * MB, contentTypes: pictures },
    video: { countMax: 1, bytesMax: 512 * MB, contentTypes: films },
    altTextLengthMax: 1000,
  },
  bluesky: {
    ...usual,
    label: 'Bluesky',
    captionLengthMax: 300,
    captionCounting: 'graphemes',
    captionBytesMax: 3000,
    takesThreads: true,
    image: { countMax: 4, bytesMax: 2 * MB, contentTypes: pictures },
    video: { countMax: 1, bytesMax: 300 * MB, contentTypes: ['video/mp4'] },
    altTextLengthMax: 1000,
  },
  threads: {
    ...usual,
    label: 'Threads',
    captionLengthMax: 500,
    captionCounting: 'threads',
    countsMax: { links: 5 },
    takesThreads: true,
    image: { countMax: 20, bytesMax: 8 * MB, contentTypes: pictures },
    video: { countMax: 20, bytesMax: 1 * GB, contentTypes: films },
    mixedMax: 20,
    altTextLengthMax: 1000,
  },
  mastodon: {
    ...usual,
    label: 'Mastodon',
    captionLengthMax: 500,
    captionCounting: 'mastodon',
    takesThreads: true,
    image: { countMax: 4, bytesMax: 16 * MB, contentTypes: pictures },
    video: { countMax: 1, bytesMax: 99 * MB, contentTypes: films },
    altTextLengthMax: 1500,
    imageSides: { pixelsMax: 33_177_600 },
  },
  instagram: {
    ...usual,
    label: 'Instagram',
    captionLengthMax: 2200,
    captionCounting: 'code_points',
    countsMax: { hashtags: 30, mentions: 20 },
    commentLengthMax: 2200,
    needs: 'media',
    image: { countMax: 10, bytesMax: 8 * MB, contentTypes: ['image/jpeg'] },
    video: { countMax: 10, bytesMax: 300 * MB, contentTypes: films },
    mixedMax: 10,
    altTextLengthMax: 1000,
    aspectRatio: { min: 0.8, max: 1.91 },
  },
  facebook: {
    ...usual,
    label: 'Facebook',
    captionLengthMax: 63_206,
    captionCounting: 'code_points',
    commentLengthMax: 8000,
    image: { countMax: 10, bytesMax: 10 * MB, contentTypes: pictures },
    video: { countMax: 1, bytesMax: 2 * GB, contentTypes: films },
    altTextLengthMax: 1000,
  },
  linkedin: {
    ...usual,
    label: 'LinkedIn',
    captionLengthMax: 3000,
    captionCounting: 'code_points',
    commentLengthMax: 1250,
    image: { countMax: 20, bytesMax: 8 * MB, contentTypes: pictures },
    video: { countMax: 1, bytesMax: 500 * MB, contentTypes: ['video/mp4'] },
    altTextLengthMax: 4086,
    imageSides: { pixelsMax: 36_152_319 },
  },
  pinterest: {
    ...usual,
    label: 'Pinterest',
    captionLengthMax: 500,
    captionCounting: 'code_points',
    needs: 'image',
    image: { countMax: 5, bytesMax: 20 * MB, contentTypes: pictures },
    // Its image is the cover.
    video: { countMax: 1, bytesMax: 2 * GB, contentTypes: films },
    mixedMax: 2,
    altTextLengthMax: 500,
  },
  youtube: {
    ...usual,
    label: 'YouTube',
    captionLengthMax: 5000,
    captionCounting: 'bytes',
    needs: 'video',
    image: null,
    video: { countMax: 1, bytesMax: 256 * GB, contentTypes: films },
    altTextLengthMax: null,
  },
  tiktok: {
    ...usual,
    label: 'TikTok',
    captionLengthMax: 2200,
    captionCounting: 'utf16',
    needs: 'video',
    image: null,
    video: { countMax: 1, bytesMax: 4 * GB, contentTypes: films },
    altTextLengthMax: null,
  },
  telegram: {
    ...usual,
    label: 'Telegram',
    captionLengthMax: 4096,
    mediaCaptionLengthMax: 1024,
    captionCounting: 'utf16',
    image: { countMax: 10, bytesMax: 10 * MB, contentTypes: pictures },
    video: { countMax: 10, bytesMax: 50 * MB, contentTypes: ['video/mp4'] },
    mixedMax: 10,
    altTextLengthMax: null,
    imageSides: { sumMax: 10_000, ratioMax: 20 },
  },
  discord: {
    ...usual,
    label: 'Discord',
    captionLengthMax: 2000,
    captionCounting: 'code_points',
    // Servers that were boosted take more; a webhook doesn't tell.
    image: { countMax: 10, bytesMax: 10 * MB, contentTypes: pictures },
    video: { countMax: 10, bytesMax: 10 * MB, contentTypes: films },
    mixedMax: 10,
    altTextLengthMax: 1024,
  },
} satisfies { readonly [Name in Platform]: Provider & CommentBound<Name> }

/** A caption may be so long with so many images and videos. */
export function captionLengthMaxOf({ captionLengthMax, mediaCaptionLengthMax }: Provider, mediaCount: number): number {
  return mediaCount > 0 ? (mediaCaptionLengthMax ?? captionLengthMax) : captionLengthMax
}

export function kindOf(contentType: string): MediaKind {
  return contentType.startsWith('video/') ? 'video' : 'image'
}
