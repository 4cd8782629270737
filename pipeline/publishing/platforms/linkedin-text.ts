/**
 * Texts in the "little text" format of LinkedIn's posts. A backslash stands before each reserved character, and a hashtag
 * is a template. An unescaped character cuts the text off without an error (LinkedIn's documentation, "little Text Format").
 */
import { linksIn, replaceLinks } from '../../../schemas/reference/links-in-text.ts'

const reserved = /[\\|{}@[\]()<>#*_~]/g
/** A `#` at the start of a word, and the word after it. Emoji modifiers (variation selectors, keycap) aren't part of a word. */
const hashtag =
  /(?<![\p{L}\p{N}_#/&]|(?![\ufe0e\ufe0f\u20e3])\p{M})[#＃]((?:[\p{L}\p{N}_]|(?![\ufe0e\ufe0f\u20e3])\p{M})+)/gu

/** Hashtags stay hashtags, except in links; a number alone is no hashtag. */
export function littleText(text: string): string {
  const links = linksIn(text)
  const isInLink = (at: number) => links.some(({ index, url }) => at > index && at < index + url.length)
  let [little, done] = ['', 0]
  for (const { 0: found, 1: word, index } of text.matchAll(hashtag)) {
    if (isInLink(index) || /^[\p{N}_]+$/u.test(word!)) continue
    little += `${escaped(text.slice(done, index))}{hashtag|${escaped(found[0]!)}|${escaped(word!)}}`
    done = index + found.length
  }
  return little + escaped(text.slice(done))
}

const escaped = (text: string) => text.replace(reserved, '\\$&')

/**
 * Whether a post as LinkedIn lists it has this text. LinkedIn shortens links and drops blanks, so neither counts.
 * @param little as LinkedIn gives it
 */
export function isSameText(little: string, text: string): boolean {
  const plain = little.replace(/\{hashtag\|\\?([#＃])\|((?:\\.|[^\\|{}])*)\}/g, '$1$2').replace(/\\(.)/gs, '$1')
  return compared(plain) === compared(text)
}

/** The same of comments, which are plain texts. */
export function isSamePlainText(listed: string, text: string): boolean {
  return compared(listed) === compared(text)
}

const compared = (text: string) =>
  replaceLinks(text, () => '…')
    .replace(/\s+/g, ' ')
    .trim()
