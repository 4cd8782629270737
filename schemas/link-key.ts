/**
 * Keys of short links: the last part of `post_url`. A key is either made (`makeAttributionKey`) or chosen when the link is
 * created. Case counts. Under a domain a key belongs to one link, and so under the installation's root, whatever the workspace.
 */
import { linkKeyLengthMax } from './limits/api-limits.ts'

const shape = new RegExp(`^[0-9A-Za-z](?:[\\w-]{0,${linkKeyLengthMax - 2}}[0-9A-Za-z])?$`)

/**
 * First parts of paths that other pages have, or may get: short links may stand right under the host. None has the eight
 * characters of keys that are made.
 */
export const reservedKeys: readonly string[] = [
  'api',
  'dashboard',
  'demo',
  'docs',
  'guides',
  'health',
  'l',
  'mcp',
  'media',
  'metrics',
  'shared',
  'svc',
  'v1',
  'admin',
  'assets',
  'help',
  'login',
  'logout',
  'privacy',
  'signin',
  'signup',
  'static',
  'status',
  'terms',
  'unsubscribe',
  'www',
]

/** Whether a short link can end in `text`. Whether one does, only the table of links knows. */
export function isLinkKeyShaped(text: string): boolean {
  return linkKeyProblem(text) === null
}

/**
 * A part of a path as a key. Some browsers and mail programs escape letters, and that is the same address (RFC 3986, 6.2.2.2).
 * Others take characters into an address that stand behind it in a text: `sale).` is `sale`.
 */
export function keyInPath(text: string): string {
  return withoutMarks(text.replace(/%(?:2d|3\d|[46][1-9a-f]|[57][\da]|5f)/gi, decodeURIComponent))
}

/** Longer paths are no keys with marks behind them. */
const markedKeyLengthMax = 4 * linkKeyLengthMax

/** Without punctuation, signs, blanks and invisible characters at the end: no key ends in them. Letters of any script stay. */
function withoutMarks(key: string): string {
  const end = key.length > markedKeyLengthMax ? key.length : key.search(/(?:[^0-9A-Za-z%]|%[\da-f]{2})+$/i)
  if (end <= 0) return key
  try {
    return /^(?:(?![/\\])[\p{P}\p{S}\p{Z}\p{C}])+$/u.test(decodeURIComponent(key.slice(end))) ? key.slice(0, end) : key
  } catch {
    return key
  }
}

/** The link's key that a path may be, also with a slash at its end. @param path without a slash before it */
export function linkKeyOfPath(path: string): string | null {
  const key = keyInPath(path.replace(/\/$/, ''))
  return isLinkKeyShaped(key) ? key : null
}

/** The fault of a key, in words, or null. */
export function linkKeyProblem(text: string): string | null {
  if (!shape.test(text)) {
    return `A key has up to ${linkKeyLengthMax} letters (a-z, A-Z), digits, - and _, and begins and ends with a letter or digit`
  }
  return reservedKeys.includes(text.toLowerCase()) ? 'The key is reserved' : null
}
