/** The second page of a sign-in: plain HTML, which runs no script. */
import type { HttpReply } from '../../../runtime/http/reply.ts'
import { escapeHtml } from '../../../schemas/escape-html.ts'
import { fault, focusedField, plainPage } from '../pages.ts'
import { codePath } from './step-cookie.ts'

const texts = {
  401: 'The code is wrong, or was used before. The app shows a new one every 30 seconds. Recovery codes have a form of their own.',
  410: 'This sign-in is over: it has 5 minutes and 5 tries for the code. Begin again with the password.',
  429: 'Too many wrong codes for this account. Try again later.',
} as const

/**
 * @param status 200 for the form alone, 401 wrong code, 410 no sign-in that awaits one, 429 too many of the account
 * @param next the page that it leads to; undefined for 410: there is no form
 */
export function codePage(status: 200 | keyof typeof texts, next?: string): HttpReply {
  const note = status === 200 ? '' : fault(texts[status])
  const again = '<p><a href="/dashboard/sign-in">Back to the sign-in</a></p>'
  return plainPage(
    status,
    'Enter a code',
    `${note}${next === undefined ? '' : formsFor(escapeHtml(next), status !== 200)}${again}`,
  )
}

/** Phones show digits alone for the first field: a recovery code has letters. */
function formsFor(next: string, isFaulty: boolean): string {
  const begin = `<form class="panel" method="post" action="${codePath}"><input type="hidden" name="next" value="${next}">`
  return `${begin}<label>Code of the authenticator app <input name="code" inputmode="numeric" autocomplete="one-time-code" pattern="\\s*(\\d\\s*){6}" title="6 digits" required ${focusedField(isFaulty)}></label><button type="submit">Sign in</button></form>
<details><summary>Use a recovery code</summary>${begin}<label>Recovery code <input name="code" autocomplete="off" autocapitalize="none" spellcheck="false" required></label><button type="submit">Sign in with it</button></form>
<p>Each works once. Without one, whoever runs the service turns the second factor off: <code>npx svc second-factor remove</code></p></details>`
}
