/** The pages of a forgotten password: plain HTML, which runs no script. */
import type { HttpReply } from '../../runtime/http/reply.ts'
import { escapeHtml } from '../../schemas/escape-html.ts'
import { passwordLengthMax, passwordLengthMin } from '../../schemas/limits/api-limits.ts'
import { fault, forgotPath, newPasswordFields, plainPage } from './pages.ts'

export const resetPath = '/dashboard/reset'

const tooMany = 'Too many attempts. Try again later.'
const backToSignIn = '<p><a href="/dashboard/sign-in">Back to the sign-in</a></p>'

const forgotTexts = { 422: 'This is no e-mail address.', 429: tooMany } as const

/** @param state 200 for the form alone, 422 no e-mail, 429 too many tries */
export function forgotPage(state: 'asked' | 200 | keyof typeof forgotTexts): HttpReply {
  const title = 'Forgot your password?'
  if (state === 'asked') {
    const said =
      'If an account with this e-mail signs in by a password, a mail with a link is on its way. The link works once, within an hour.'
    return plainPage(200, title, `<p role="status">${said}</p>${backToSignIn}`)
  }
  const note =
    state === 200 ? '<p>A mail with a link to a new password goes to your e-mail.</p>' : fault(forgotTexts[state])
  return plainPage(
    state,
    title,
    `${note}
<form class="panel" method="post" action="${forgotPath}"><label>E-mail <input name="email" type="email" autocomplete="username" required></label><button type="submit">Send the link</button></form>${backToSignIn}`,
  )
}

const resetTexts = {
  410: 'This link was used, is older than an hour, or was ended by another change of the password.',
  422: `A password must have ${passwordLengthMin} to ${passwordLengthMax} characters, and be the same in both fields.`,
  429: tooMany,
} as const

/**
 * @param status 200 for the form alone, 410 no open link, 422 no password, or one that differs, 429 too many tries
 * @param link undefined for 410: there is nothing to show
 */
export function resetPage(
  status: 200 | keyof typeof resetTexts,
  link?: { readonly email: string; readonly token: string },
): HttpReply {
  const note =
    status === 200
      ? '<p>The new password ends all sessions of this account, and its open invitations. API keys, shared links and connected apps keep working. End them in the settings.</p>'
      : fault(resetTexts[status])
  const page = plainPage(status, 'A new password', `${note}${link === undefined ? backToSignIn : formOf(link)}`)
  // The host alone, as on the page of an invitation (join-page.ts).
  return { ...page, headers: { ...page.headers, 'Referrer-Policy': 'strict-origin' } }
}

function formOf({ email, token }: { readonly email: string; readonly token: string }): string {
  return `<form class="panel" method="post" action="${resetPath}"><input type="hidden" name="token" value="${escapeHtml(token)}"><label>E-mail <input type="email" value="${escapeHtml(email)}" autocomplete="username" readonly></label>
${newPasswordFields}<button type="submit">Set the password</button></form>`
}
