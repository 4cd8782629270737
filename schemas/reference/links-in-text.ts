/** Links in a text that a person wrote. */

/** Where `url` stands in the text. */
export interface LinkInText {
  readonly index: number
  readonly url: string
}

/** Those with `http` or `https`, in their order. What ends a sentence or a bracket is none of them, nor is wide punctuation. */
export function linksIn(text: string): LinkInText[] {
  return [...text.matchAll(/https?:\/\/[^\s<>"\u3000-\u303f\uff00-\uffef]+/gi)].map(({ 0: found, index }) => ({
    index,
    url: withoutPunctuation(found),
  }))
}

/** A sentence's end, or its bracket, is none of the link that it ends with. */
export function withoutPunctuation(link: string): string {
  const bare = link.replace(/[.,;:!?'*]+$/, '')
  const isOpened = bare.includes('(')
  return !isOpened && bare.endsWith(')') ? withoutPunctuation(bare.slice(0, -1)) : bare
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
