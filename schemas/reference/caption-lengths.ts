/**
 * How long a caption is to each platform, as the platform counts it. Held by test/unit/caption-lengths.test.ts.
 *
 *   code_points  Unicode code points, where a platform says no more than "characters"
 *   graphemes    what a reader takes for one character: 👩‍👩‍👧 is one (Bluesky)
 *   mastodon     graphemes; a link is 23, a mention of `@ann@example.social` is as long as `@ann`
 *   x            most scripts count 1, CJK and emoji 2, a link 23 (the configuration of twitter-text 3)
 *   threads      an emoji counts as many as its bytes, any other character 1
 *   utf16        UTF-16 code units (TikTok, Telegram)
 *   bytes        UTF-8 bytes (YouTube)
 */
import { parse } from 'tldts'
import { lengthOf } from '../code-points.ts'
import { linkCharacter, replaceLinks, withoutPunctuation } from './links-in-text.ts'

export const captionCountings = {
  code_points: lengthOf,
  graphemes: graphemeLength,
  mastodon: mastodonLength,
  x: xLength,
  threads: threadsLength,
  utf16: (text: string) => text.length,
  bytes: byteLength,
} as const satisfies Record<string, (text: string) => number>
export type CaptionCounting = keyof typeof captionCountings

export type CaptionCounter = (counting: CaptionCounting, text: string) => number

/** Counts each text once, however often it is asked for: many accounts of a platform have the same ones. */
export function makeCaptionCounter(): CaptionCounter {
  const counted = new Map<string, number>()
  return (counting, text) => {
    const name = `${counting} ${text}`
    const length = counted.get(name) ?? captionCountings[counting](text)
    counted.set(name, length)
    return length
  }
}

const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' })
const bytes = new TextEncoder()

export function byteLength(text: string): number {
  return bytes.encode(text).length
}

/** The segmenter takes the longer for each the longer the whole text is. */
const windowLength = 256

/** In windows: each but the last one of a window is whole, and the next window begins with that. */
function graphemesOf(text: string): string[] {
  const found: string[] = []
  let length = windowLength
  for (let at = 0; at < text.length; ) {
    // A pair that is cut in two would be judged as something else.
    const end = at + length + (/[\ud800-\udbff]/.test(text.charAt(at + length - 1)) ? 1 : 0)
    const window = text.slice(at, end)
    const segments = Array.from(segmenter.segment(window), ({ segment }) => segment)
    const isLast = end >= text.length
    const whole = isLast ? segments : segments.slice(0, -1)
    for (const segment of whole) {
      found.push(segment)
      at += segment.length
    }
    length = whole.length === 0 ? length * 2 : windowLength
  }
  return found
}

function graphemeLength(text: string): number {
  // A line's end of two characters is one.
  return /^[\n\x20-\x7e]*$/.test(text) ? text.length : graphemesOf(text).length
}

/** The length that platforms count for any link. */
const linkLength = 23
const linkPlaceholder = 'x'.repeat(linkLength)

/** An account of another server; the part of its own is what is counted. */
const remoteMention =
  /(?<![=/\p{L}\p{N}_])(@[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?)@[\p{L}\p{N}_]+(?:[.-]+[\p{L}\p{N}_]+)*/giu

/** @param perLink the length that the instance counts for a link */
export function mastodonLength(text: string, perLink = linkLength): number {
  return graphemeLength(replaceLinks(text, () => 'x'.repeat(perLink)).replace(remoteMention, '$1'))
}

/** A grapheme that begins so is an emoji, with all that is joined to it. */
const emoji =
  /^(?:\p{RI}{2}|[#*0-9]\uFE0F?\u20E3|\p{Emoji_Presentation}|\p{Extended_Pictographic}(?:\uFE0F|\u200D|\p{Emoji_Modifier}))/u

/** From and to which code point X counts a character as 1. */
const lightRanges: readonly (readonly [from: number, to: number])[] = [
  [0, 4351],
  [8192, 8205],
  [8208, 8223],
  [8242, 8247],
]

/** A host's name that no `@`, `#` or word touches, with what follows it: X makes a link of it if its ending exists. */
const bareLink = new RegExp(
  String.raw`(?<![a-z0-9@$#_./-])(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}(?![a-z0-9@-])(?:/${linkCharacter.source}*)?`,
  'gi',
)

function xLength(text: string): number {
  const normal = composed(text)
  const shortened = replaceLinks(normal, (url) => (hasKnownEnding(url) ? linkPlaceholder : url)).replace(
    bareLink,
    (found) => {
      const url = withoutPunctuation(found)
      return hasKnownEnding(url) ? linkPlaceholder + found.slice(url.length) : found
    },
  )
  return sumOf(graphemesOf(shortened), (grapheme) => (emoji.test(grapheme) ? 2 : sumOf([...grapheme], weightOf)))
}

/**
 * In Normalization Form C, in pieces of at most 30 marks in a row: no script has more (Stream-Safe Text Format of UAX 15). To put
 * very many in order takes time by the square of their number.
 */
function composed(text: string): string {
  return text.replace(/\P{M}*\p{M}{0,30}/gu, (piece) => piece.normalize('NFC'))
}

function hasKnownEnding(url: string): boolean {
  return parse(url).isIcann === true
}

function weightOf(character: string): number {
  const point = character.codePointAt(0)!
  return lightRanges.some(([from, to]) => point >= from && point <= to) ? 1 : 2
}

function threadsLength(text: string): number {
  return sumOf(graphemesOf(text), (grapheme) => (emoji.test(grapheme) ? byteLength(grapheme) : lengthOf(grapheme)))
}

function sumOf<Item>(items: readonly Item[], measure: (item: Item) => number): number {
  return items.reduce((sum, item) => sum + measure(item), 0)
}
