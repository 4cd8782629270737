/** The caption of an entry by a feed's template, and shorter ones for platforms that take less. Pure; test/integration/feeds.test.ts. */
import { lengthOf } from '../../schemas/code-points.ts'
import { postBaseCaptionLengthMax } from '../../schemas/limits/api-limits.ts'
import { byteLength, captionCountings } from '../../schemas/reference/caption-lengths.ts'
import { type FeedPlaceholder, fillTemplate } from '../../schemas/reference/feed-template.ts'
import { captionLengthMaxOf, type Platform, providers } from '../../schemas/reference/providers.ts'
import { cut } from './plain-text.ts'
import type { EntryTexts } from './read-feed.ts'

/** The first is shortened first: whoever reads on has the title and the link. */
const shortened: readonly FeedPlaceholder[] = ['summary', 'author', 'title']

export interface EntryCaptions {
  readonly base: string
  /** For platforms that the base is too long for. */
  readonly byPlatform: Readonly<Partial<Record<Platform, string>>>
}

export function captionsOf(template: string, texts: EntryTexts, platforms: readonly Platform[]): EntryCaptions {
  const base = captionThat(isCaption, template, texts)
  const tooLong = [...new Set(platforms)].filter((platform) => !fitsOn(platform, base))
  return {
    base,
    byPlatform: Object.fromEntries(
      tooLong.map((platform) => [platform, captionThat((text) => fitsOn(platform, text), template, texts)]),
    ),
  }
}

type Fits = (caption: string) => boolean

const isCaption: Fits = (text) => lengthOf(text) <= postBaseCaptionLengthMax

function fitsOn(platform: Platform, caption: string): boolean {
  const provider = providers[platform]
  const { captionCounting, captionBytesMax } = provider
  const isShort = captionCountings[captionCounting](caption) <= captionLengthMaxOf(provider, 0)
  return isShort && (captionBytesMax === null || byteLength(caption) <= captionBytesMax)
}

/** The longest one that fits. Where none does, the shortest that there is, within what a post takes. */
function captionThat(fits: Fits, template: string, texts: EntryTexts): string {
  const write = (some: EntryTexts) => tidied(fillTemplate(template, some)) || some.title || some.link || '…'
  let left = texts
  for (const name of shortened) {
    if (fits(write(left))) break
    const points = [...left[name]]
    let [most, tooMany] = [0, points.length]
    const before = left
    const cutTo = (length: number) => ({ ...before, [name]: length === 0 ? '' : cut(points.join(''), length) })
    // 1 has the mark of a cut alone.
    while (tooMany - most > 1) {
      const middle = Math.floor((most + tooMany) / 2)
      if (fits(write(cutTo(middle)))) most = middle
      else tooMany = middle
    }
    left = cutTo(most <= 1 ? 0 : most)
  }
  return cut(write(left), postBaseCaptionLengthMax)
}

/** An entry may lack what the template has a line for. */
function tidied(caption: string): string {
  return caption
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
}
