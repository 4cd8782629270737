/**
 * Tells whether a post on X is one of a text. X shortens links to `https://t.co/…` and names them beside the text, adds a
 * link to the post's own media, and escapes `&`, `<` and `>` (X's documentation of the Post object).
 */
import { replaceLinks } from '../../schemas/reference/links-in-text.ts'

interface ShownLink {
  readonly url?: string
  readonly expanded_url?: string
}

/** @param post with `id`, `text` and `entities` */
export function isPostOf(text: string, post: Readonly<Record<string, unknown>>): boolean {
  const { urls = [] } = (post['entities'] ?? {}) as { urls?: ShownLink[] }
  let shown = String(post['text']).replace(/&(amp|lt|gt);/g, (_, name: keyof typeof signs) => signs[name])
  for (const { url, expanded_url: expanded = url } of urls) {
    if (url === undefined || expanded === undefined) continue
    const isOwn = expanded.includes(`/status/${post['id']}/`)
    shown = shown.replace(url, () => (isOwn ? '' : expanded))
  }
  return comparable(shown) === comparable(text)
}

const signs = { amp: '&', lt: '<', gt: '>' }

/** Without differences that X makes: it normalizes texts, drops blanks, and writes `http://` before a bare host. */
function comparable(text: string): string {
  return replaceLinks(text.normalize('NFC'), (url) => (URL.canParse(url) ? new URL(url).href : url))
    .replace(/https?:\/\//gi, '')
    .replace(/\/(?=\s|$)/g, '')
    .replace(/\s+/g, ' ')
    .trim()
    .toLowerCase()
}
