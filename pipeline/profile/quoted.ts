/** Quotes from pages, each with its source. */
import type { Page } from './read-page.ts'

/** A text and the page that says it. */
export interface Quoted {
  readonly text: string
  readonly quote: string
  readonly url: string
}

export function quoted({ url }: Page, text: string | undefined, quote = text): Quoted | undefined {
  return text === undefined || text === '' ? undefined : { text, quote: quote!, url }
}

export function first(pages: readonly Page[], of: (page: Page) => Quoted | undefined): Quoted | undefined {
  for (const page of pages) {
    const found = of(page)
    if (found !== undefined) return found
  }
  return undefined
}

/** The first of texts that are equal but for their case. */
export function distinct(all: readonly Quoted[]): Quoted[] {
  const texts = new Set<string>()
  return all.filter(({ text }) => {
    const key = text.toLowerCase()
    return !texts.has(key) && texts.add(key)
  })
}
