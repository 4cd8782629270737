/** Links in a text that a person wrote. The dashboard imports this file too: it has no imports of its own. */

/** Where `url` stands in the text. */
export interface LinkInText {
  readonly index: number
  readonly url: string
}

/**
 * A character within a link: no blank, no quote, and no letter or sign of Chinese, Japanese or Korean, which stand right
 * behind a link.
 */
export const linkCharacter =
  /[^\s<>"`“”„‟‘’‚‛«»‹›…\u1100-\u11ff\u2e80-\ua4cf\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff00-\uffef]/
const links = new RegExp(`https?://${linkCharacter.source}+`, 'gi')

/** Links with `http` or `https`, in their order, without what ends the sentence around them. */
export function linksIn(text: string): LinkInText[] {
  return [...text.matchAll(links)]
    .map(({ 0: found, index }) => ({ index, url: withoutPunctuation(found) }))
    .filter(({ url }) => !url.endsWith('://'))
}

/** A sentence's end is none of the link that it ends with, nor is a bracket that the link didn't open. */
export function withoutPunctuation(link: string): string {
  const countOf = (sign: string) => link.split(sign).length - 1
  const unopened = new Map(
    ['()', '[]', '{}'].map(([opening, closing]) => [closing!, countOf(closing!) - countOf(opening!)]),
  )
  // From its end: a regular expression for a text's end tries each run of these characters, once for each character of
  // it.
  let length = link.length
  for (; length > 0; length -= 1) {
    const sign = link[length - 1]!
    if (".,;:!?'*".includes(sign)) continue
    const left = unopened.get(sign) ?? 0
    if (left <= 0) break
    unopened.set(sign, left - 1)
  }
  return link.slice(0, length)
}

/** The text with another in place of each link. */
export function replaceLinks(text: string, replace: (url: string) => string): string {
  let [done, at] = ['', 0]
  for (const { index, url } of linksIn(text)) {
    done += text.slice(at, index) + replace(url)
    at = index + url.length
  }
  return done + text.slice(at)
}
