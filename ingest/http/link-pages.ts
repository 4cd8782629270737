/** The HTML pages that short links answer with, where they don't redirect. They have no script, no style and no cookie. */
import type { HttpReply } from '../../runtime/http/reply.ts'
import { escapeHtml } from '../../schemas/escape-html.ts'
import { retryAfterSeconds } from '../../schemas/limits/store-limits.ts'
import type { ShownPreview } from '../tables/link-target.ts'

/** Names of the form's fields. */
export const passwordField = 'password'
/** Where the visitor comes from: the browser says so to the page alone, and the click is counted after it. */
export const referrerField = 'from'

const noForms = "'none'"
// Chromium holds a form's redirects to this too, and the destination is told to nobody before the password is right.
const anyForms = 'http: https:'

export const unknownReply = pageReply(404, 'Link not found', 'There is no such link, or it was mistyped.')
export const expiredReply = pageReply(410, 'Link expired', 'This link has expired.')
export const unavailableReply = pageReply(
  503,
  'Not now',
  'This link can’t be looked up at the moment. Please try again.',
  { headers: { 'Retry-After': String(retryAfterSeconds) } },
)

const askTexts = {
  200: 'This link has a password.',
  403: 'The password is wrong.',
  429: 'Too many wrong passwords. Please try again later.',
  503: 'The password can’t be checked at the moment. Please try again.',
} as const

/**
 * Asks for the password of a link.
 * @param status 200 for the page alone, 403 wrong password, 429 too many tries, 503 not now
 * @param referrer where the visitor comes from, or empty
 * @param retryMs time after which another try may be made
 */
export function askReply(status: keyof typeof askTexts, referrer: string, retryMs?: number): HttpReply {
  const hidden = `<input type="hidden" name="${referrerField}" value="${escapeHtml(referrer)}">`
  const field = `<label>Password <input name="${passwordField}" type="password" autocomplete="off" required autofocus></label>`
  const wait = retryMs === undefined ? {} : { 'Retry-After': String(Math.max(1, Math.ceil(retryMs / 1000))) }
  return pageReply(status, 'Password', askTexts[status], {
    headers: wait,
    form: true,
    body: `<form method="post">${hidden}${field} <button>Continue</button></form>`,
  })
}

/**
 * The link's own preview, by Open Graph and Twitter's names. There is no `og:url`, `canonical` or refresh: some apps would go
 * on to it, and preview the destination.
 * @param url where the link leads; null: the page doesn't say
 */
export function previewReply({ title, description, imageUrl }: ShownPreview, url: string | null): HttpReply {
  const tags: [attribute: 'property' | 'name', key: string, content: string | null][] = [
    ['property', 'og:type', 'website'],
    ['property', 'og:title', title],
    ['property', 'og:description', description],
    ['property', 'og:image', imageUrl],
    ['name', 'description', description],
    ['name', 'twitter:card', imageUrl === null ? 'summary' : 'summary_large_image'],
    ['name', 'twitter:title', title],
    ['name', 'twitter:description', description],
    ['name', 'twitter:image', imageUrl],
  ]
  const metas = tags.map(([attribute, key, content]) =>
    content ? `<meta ${attribute}="${key}" content="${escapeHtml(content)}">` : '',
  )
  return pageReply(200, escapeHtml(title), escapeHtml(description), {
    head: metas.join(''),
    body: url === null ? '' : `<p><a href="${escapeHtml(url)}">Continue</a></p>`,
  })
}

/** HTML. */
interface PageParts {
  readonly headers?: Record<string, string>
  readonly head?: string
  readonly body?: string
  /** The body has a form. */
  readonly form?: boolean
}

/** @param title HTML, as `text` */
function pageReply(status: number, title: string, text: string, parts: PageParts = {}): HttpReply {
  const { headers, body = '', form = false } = parts
  const head = `<meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="robots" content="noindex">`
  const forms = form ? anyForms : noForms
  return {
    status,
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      'Cache-Control': 'no-store',
      'Content-Security-Policy': `default-src 'none'; base-uri 'none'; form-action ${forms}; frame-ancestors 'none'`,
      'X-Content-Type-Options': 'nosniff',
      ...headers,
    },
    body: `<!doctype html><html lang="en"><head>${head}<title>${title}</title>${parts.head ?? ''}</head><body><h1>${title}</h1><p>${text}</p>${body}</body></html>\n`,
  }
}
