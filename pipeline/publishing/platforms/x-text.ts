/**
 * Tells whether a post on X is one of a text. X shortens links to `https://t.co/…` and names them beside the text. It
 * adds a link to the post's own media, and escapes `&`, `<` and `>` (X's documentation of the Post object).
 */
import { domainToUnicode } from 'node:url'
import type { ReplyTo } from '../adapter.ts'

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

/** X may put the accounts that the part before mentions in front of a reply, in an order of its own. */
export function isReplyOf(text: string, post: Readonly<Record<string, unknown>>, { parent }: ReplyTo): boolean {
  const referenced = (post['referenced_tweets'] ?? []) as { type?: string; id?: string }[]
  if (!referenced.some(({ type, id }) => type === 'replied_to' && id === parent.externalId)) return false
  return isPostOf(unaddressed(text), { ...post, text: unaddressed(String(post['text'])) })
}

const unaddressed = (text: string) => text.trimStart().replace(/^(?:@\w{1,15}\s+)+/, '')

const signs = { amp: '&', lt: '<', gt: '>' }

/**
 * Without differences that X makes: it normalizes texts, drops blanks, and writes `http://` before a bare host. Hosts and
 * paths may be encoded on one side, and a `/` that no path follows may be on one side only.
 */
function comparable(text: string): string {
  return text
    .replace(/(?:%[0-9a-f]{2})+/gi, decoded)
    .replace(/\bxn--[\w-]+/gi, (label) => domainToUnicode(label) || label)
    .normalize('NFC')
    .replace(/https?:\/\//gi, '')
    .replace(/\/(?![\p{L}\p{N}])/gu, '')
    .replace(/\s+/g, ' ')
    .trim()
    .toLowerCase()
}

function decoded(percented: string): string {
  try {
    return decodeURIComponent(percented)
  } catch {
    return percented
  }
}
