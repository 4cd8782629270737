/** Texts of pages with where they stand. */
import type { Page } from './read-page.ts'

/** A text and the page that says it. */
export interface Said {
  readonly text: string
  readonly quote: string
  readonly url: string
}

export function said({ url }: Page, text: string | undefined, quote = text): Said | undefined {
  return text === undefined || text === '' ? undefined : { text, quote: quote!, url }
}

export function first(pages: readonly Page[], of: (page: Page) => Said | undefined): Said | undefined {
  for (const page of pages) {
    const found = of(page)
    if (found !== undefined) return found
  }
  return undefined
}

/** The first of equal texts, whatever their case. */
export function distinct(all: readonly Said[]): Said[] {
  const texts = new Set<string>()
  return all.filter(({ text }) => {
    const key = text.toLowerCase()
    return !texts.has(key) && texts.add(key)
  })
}
