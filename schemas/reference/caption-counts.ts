/** Things in a caption that some platforms bound. Each counts once, however often it stands there. */
import { linkCharacter, linksIn, replaceLinks, withoutPunctuation } from './links-in-text.ts'

/** A run of tags without spaces holds several. Emoji modifiers (variation selectors, keycap) aren't part of a word. */
const tags =
  /(?<![\p{L}\p{N}_&]|(?![\ufe0e\ufe0f\u20e3])\p{M})(?:[#＃](?:[\p{L}\p{N}_]|(?![\ufe0e\ufe0f\u20e3])\p{M})+)+/gu
/** An address of e-mail is none. */
const mention = /(?<![\p{L}\p{N}_.@])@[a-z0-9_][a-z0-9_.]{0,29}/giu

/** Threads also counts links without a scheme. */
const bareLink = new RegExp(`(?<![\\w@./-])www\\.${linkCharacter.source}+`, 'gi')

export const captionCounts = {
  links: (text: string) => {
    const bare = [...withoutLinks(text).matchAll(bareLink)].map(([url]) => withoutPunctuation(url))
    return new Set([...linksIn(text).map(({ url }) => url.replace(/^https?:\/\//i, '')), ...bare]).size
  },
  hashtags: (text: string) => {
    const found = [...withoutLinks(text).matchAll(tags)].flatMap(([run]) => run.split(/[#＃]/).slice(1))
    // A number alone is no tag.
    return new Set(found.filter((tag) => !/^\p{N}+$/u.test(tag)).map((tag) => tag.toLowerCase())).size
  },
  mentions: (text: string) => {
    const found = [...withoutLinks(text).matchAll(mention)].map(([sign]) => sign.replace(/\.+$/, '').toLowerCase())
    return new Set(found).size
  },
} as const satisfies Record<string, (text: string) => number>
export type CaptionCount = keyof typeof captionCounts

const withoutLinks = (text: string) => replaceLinks(text, () => ' ')
