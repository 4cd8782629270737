/** Links in a text that a person wrote. */

/** Where `url` stands in the text. */
export interface LinkInText {
  readonly index: number
  readonly url: string
}

/**
 * Links with `http` or `https`, in their order. Punctuation that ends a sentence or a bracket is no part of them, nor
 * is wide punctuation.
 */
export function linksIn(text: string): LinkInText[] {
  return [...text.matchAll(/https?:\/\/[^\s<>"\u3000-\u303f\uff00-\uffef]+/gi)].map(({ 0: found, index }) => ({
    index,
    url: withoutPunctuation(found),
  }))
}

/** A sentence's end, or its bracket, is none of the link that it ends with. */
export function withoutPunctuation(link: string): string {
  const ends = link.includes('(') ? ".,;:!?'*" : ".,;:!?'*)"
  // From its end: a regular expression for a text's end tries each run of these characters, once for each character of
  // it.
  let length = link.length
  while (length > 0 && ends.includes(link[length - 1]!)) length -= 1
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
