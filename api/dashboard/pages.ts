/** The HTML pages of the dashboard: the shell that its script fills, for members and by a shared link, and the sign-in page. */
import { randomBytes } from 'node:crypto'
import type { HttpReply } from '../../runtime/http/reply.ts'
import { escapeHtml } from '../../schemas/escape-html.ts'
import { passwordLengthMax, passwordLengthMin } from '../../schemas/limits/api-limits.ts'
import { retryAfterSeconds } from '../../schemas/limits/store-limits.ts'
import { figurePages, sharedAddress } from '../../schemas/shared-pages.ts'
import { headTags, makeAssets } from './assets.ts'
import type { FirstAnswers } from './first-answers.ts'

/** @param ancestors which pages may frame it */
const policyWith = (ancestors: string) =>
  `default-src 'self'; img-src 'self' data:; object-src 'none'; frame-ancestors ${ancestors}; base-uri 'none'; form-action 'self'`

const headers = {
  'Content-Security-Policy': policyWith("'none'"),
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'same-origin',
}

export const assets = makeAssets(headers)

/**
 * The page that the script fills, with the answers that it begins with.
 * @param now the time of the service: the browser's clock may be another
 */
export function shell(answers: FirstAnswers, now: number): HttpReply {
  // Escaped, so that no text can end the script element. JSON reads it as the same.
  const json = JSON.stringify(answers).replaceAll('<', '\\u003c')
  return html(
    200,
    'Dashboard',
    `<div id="app" data-now="${now}"></div><script type="application/json" id="answers">${json}</script>`,
    headTags.script,
    // A translator replaces text nodes by its own elements. The script would then update nodes that are no longer shown.
    ' translate="no"',
  )
}

/** Shared links lead here, each with its token as the fragment of the address. */
export const sharedPath = sharedAddress('/dashboard')

/** Asks for a mail with a link to a new password. */
export const forgotPath = '/dashboard/forgot'

/** All pages that a shared link shows. */
export const sharedPaths: readonly string[] = figurePages.map(sharedAddress)

/**
 * The pages of every shared link: the server doesn't see which one. Other sites may frame them, as they have no cookie and
 * change nothing.
 */
export function sharedPage(now: number): HttpReply {
  const page = shell({}, now)
  const ownHeaders = { 'Content-Security-Policy': policyWith('*'), 'Referrer-Policy': 'no-referrer' }
  return { ...page, headers: { ...page.headers, ...ownHeaders } }
}

/**
 * The document that recordings are played in (web/player/main.ts). Recordings are untrusted: the page has no origin and
 * makes no requests. It runs the player's script alone, by a nonce that no recording can know.
 */
export function playerPage(): HttpReply {
  const nonce = randomBytes(16).toString('base64url')
  const policy = [
    "sandbox allow-scripts; default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'",
    `script-src 'nonce-${nonce}'; style-src 'unsafe-inline'; img-src data:; font-src data:`,
  ]
  return {
    status: 200,
    headers: {
      ...headers,
      'Content-Security-Policy': policy.join('; '),
      'Referrer-Policy': 'no-referrer',
      'Content-Type': 'text/html; charset=utf-8',
      'Cache-Control': 'no-store',
    },
    body: `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Recording</title>${headTags.playerOf(nonce)}</head><body></body></html>`,
  }
}

/** While a store is away. */
export function awayPage(): HttpReply {
  const page = headedPage(
    503,
    'The dashboard',
    `<p class="failure" role="alert">It can’t be shown right now, as a store of the service is away. Visits go on being recorded. On the machine, <code>npx svc doctor</code> says what is wrong.</p>`,
  )
  return { ...page, headers: { ...page.headers, 'Retry-After': String(retryAfterSeconds) } }
}

const texts = {
  200: 'This page is for the members of a workspace.',
  401: 'The e-mail or password is wrong.',
  403: 'A sign-in link works on the machine that the service runs on, or through a tunnel to it.',
  410: 'This link was used before, or is older than 15 minutes.',
  429: 'Too many attempts. Try again later, or use a sign-in link.',
  changed: 'The password was changed. Sign in with the new one.',
} as const

interface SignInPage {
  /** The page that it leads to. */
  readonly next?: string
  /** A forgotten password can be changed by a mail's link. */
  readonly isMailSetUp: boolean
}

/**
 * @param state 200 for the page alone, 401 wrong password, 403 link from another machine, 410 used or expired link,
 * 429 too many tries
 */
export function signInPage(state: keyof typeof texts, { next = '/dashboard', isMailSetUp }: SignInPage): HttpReply {
  const role = state === 200 ? '' : state === 'changed' ? ' role="status"' : ' class="failure" role="alert"'
  const forgot = isMailSetUp ? `\n<p><a href="${forgotPath}">Forgot your password?</a></p>` : ''
  return headedPage(
    state === 'changed' ? 200 : state,
    'Sign in',
    `<p${role}>${texts[state]}</p>
<form class="panel" method="post" action="/dashboard/sign-in"><input type="hidden" name="next" value="${escapeHtml(next)}"><label>E-mail <input name="email" type="email" autocomplete="username" required></label>
<label>Password <input name="password" type="password" autocomplete="current-password" required></label><button type="submit">Sign in</button></form>${forgot}
<p>Without a password, make a link on that machine, and open it:</p><pre>npx svc owner link</pre>
<p><code>npx svc owner password</code> sets a password.</p>`,
  )
}

/** @param text as HTML */
export const fault = (text: string) => `<p class="failure" role="alert" id="fault">${text}</p>`

/** Attributes of the field that has the focus as the page comes. @param isFaulty a fault above it is read with its name */
export const focusedField = (isFaulty: boolean) => (isFaulty ? 'autofocus aria-describedby="fault"' : 'autofocus')

/** The two fields of a new password. */
export const newPasswordFields = [
  '<label>New password <input name="password"',
  '<label>New password, again <input name="again"',
]
  .map(
    (begin) =>
      `${begin} type="password" minlength="${passwordLengthMin}" maxlength="${passwordLengthMax}" autocomplete="new-password" required></label>`,
  )
  .join('\n')

/** A narrow page. @param title its heading, and its name in tabs and history: HTML without elements */
export function headedPage(status: number, title: string, body: string): HttpReply {
  return html(status, title, `<main class="sign-in"><h1>${title}</h1>${body}</main>`)
}

/** Such a page of a form, without a script. */
export function plainPage(status: number, title: string, body: string): HttpReply {
  const page = headedPage(status, title, body)
  const ownHeaders = {
    'Content-Security-Policy': `${policyWith("'none'")}; script-src 'none'`,
    'X-Robots-Tag': 'noindex',
  }
  return { ...page, headers: { ...page.headers, ...ownHeaders } }
}

function html(status: number, title: string, body: string, head = '', attributes = ''): HttpReply {
  return {
    status,
    headers: { ...headers, 'Content-Type': 'text/html; charset=utf-8', 'Cache-Control': 'no-store' },
    body: `<!doctype html><html lang="en"${attributes}><head><meta charset="utf-8"><title>${title}</title><meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">${headTags.style}${head}</head><body>${body}</body></html>`,
  }
}
