/** The page of an invitation: plain HTML, which runs no script. */
import type { OpenInvitation } from '../../postgres/tables/members/invitations.ts'
import type { HttpReply } from '../../runtime/http/reply.ts'
import { escapeHtml } from '../../schemas/escape-html.ts'
import { passwordLengthMax, passwordLengthMin } from '../../schemas/limits/api-limits.ts'
import { roleWithArticle } from '../../schemas/role-with-article.ts'
import { fault, plainPage } from './pages.ts'

const texts = {
  401: 'The e-mail or password is wrong.',
  409: 'The account with this e-mail signs in by links alone. Whoever runs the service gives it a password first: <code>npx svc owner password</code>',
  410: 'This invitation was used or withdrawn, or is older than 7 days.',
  422: `A password must have ${passwordLengthMin} to ${passwordLengthMax} characters. A new one must be the same in both fields.`,
  429: 'Too many attempts. Try again later.',
  code: 'This account has a second factor. Enter the password again, with a code of the app or a recovery code.',
  'wrong code': 'The code is wrong, or was used before. Enter the password again, with another one.',
} as const

export interface Invited extends Pick<OpenInvitation, 'workspaceName' | 'inviter' | 'email' | 'role'> {
  readonly token: string
  /** Somebody, as far as the browser's cookie says. */
  readonly isSignedIn: boolean
}

/**
 * @param state 200 for the form alone, 401 wrong password, 409 an account without one, 410 no open invitation, 422 no password, or
 * a new one that differs, 429 too many tries, `code` where the account asks for one, `wrong code`
 * @param invited undefined for 410: there is nothing to show
 */
export function joinPage(state: 200 | keyof typeof texts, invited?: Invited): HttpReply {
  const note = state === 200 ? '' : fault(texts[state])
  const asksForCode = typeof state === 'string'
  const form = invited === undefined ? onward : formOf(invited, asksForCode)
  const page = plainPage(asksForCode ? 401 : state, 'Invitation', `${note}${form}`)
  // The host alone, as the address has the token. `no-referrer` would take the `Origin` from the form, by which it is told from others'.
  return { ...page, headers: { ...page.headers, 'Referrer-Policy': 'strict-origin' } }
}

/** A second press of *Join* is answered so, too: the browser drops the answer to the first. */
const onward = '<p>If you have joined by it, <a href="/dashboard/sign-in">sign in</a>. Else ask for another one.</p>'

function formOf({ workspaceName, inviter, email, role, token, isSignedIn }: Invited, asksForCode: boolean): string {
  const by = inviter === null ? 'The owner' : `<bdi>${escapeHtml(inviter)}</bdi>`
  const ending = isSignedIn
    ? '<p>This browser is signed in already. Joining signs it in with the e-mail below instead.</p>'
    : ''
  return `<p>${by} invites you to the workspace <bdi><strong>${escapeHtml(workspaceName)}</strong></bdi> as ${roleWithArticle(role)}.</p>
<p>Enter the password of your account here. If you have none yet, choose one: you sign in with it from then on.</p>${ending}
<form class="panel" method="post" action="/dashboard/join"><input type="hidden" name="token" value="${escapeHtml(token)}"><label>E-mail <input type="email" value="${escapeHtml(email)}" autocomplete="username" readonly></label>
<label>Password <input name="password" type="password" minlength="${passwordLengthMin}" maxlength="${passwordLengthMax}" autocomplete="current-password" required></label>
${asksForCode ? codeField : againField}<button type="submit">Join</button></form>`
}

const againField = `<label>New password, again <input name="again" type="password" maxlength="${passwordLengthMax}" autocomplete="new-password"></label>`
/** For an account that is there already. */
const codeField =
  '<label>Code <input name="code" autocomplete="one-time-code" autocapitalize="none" spellcheck="false" required></label>'
