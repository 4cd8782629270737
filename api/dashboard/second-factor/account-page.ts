/** The account's page of the second factor: plain HTML, which runs no script. The QR code is an image within it. */
import { renderSVG } from 'uqr'
import type { HttpReply } from '../../../runtime/http/reply.ts'
import { escapeHtml } from '../../../schemas/escape-html.ts'
import { recoveryCodesCount } from '../../../schemas/limits/second-factor-limits.ts'
import { inWorkspace, inWorkspaceOf } from '../../../schemas/workspace-address.ts'
import { fault, focusedField, plainPage } from '../pages.ts'

export const factorPath = '/dashboard/second-factor'

const title = 'Second factor'

/** Refusals of any page that asks for the own password and code. */
export const sharedTexts = {
  401: 'The password is wrong.',
  409: 'This account signs in by links alone. Whoever runs the service gives it a password: <code>npx svc owner password</code>',
  429: 'Too many attempts. Try again later.',
  'wrong code': 'The code is wrong, or was used before. The app shows a new one every 30 seconds.',
} as const

const texts = {
  ...sharedTexts,
  422: 'The page was older than the account. Try again.',
  required: 'It stays on, because a workspace requires it. Nothing was changed.',
} as const

/** Said where nothing is wrong. `on` answers the second press of *Turn it on*, as the browser drops the answer to the first. */
const notes = {
  off: 'The second factor is off: the password alone signs in.',
  on: 'The second factor is on already. If you haven’t seen the recovery codes, make others.',
} as const

/** 200: the forms alone. */
export type PageState = 200 | keyof typeof notes | keyof typeof texts

interface AccountFactor {
  readonly email: string
  /** It is being set up. */
  readonly begun?: { readonly secret: string; readonly uri: string }
  readonly on?: { readonly since: Date; readonly recoveryCodesLeft: number }
}

/** The account's workspaces may require a second factor. */
export interface Demand {
  /** Names of those that require a second factor. */
  readonly requiredBy: readonly string[]
  /** The session's own one shows nothing before it is on; it may go on in the others. */
  readonly refused?: {
    readonly workspace: string
    readonly others: readonly { readonly id: number; readonly name: string }[]
  }
}

interface Onward {
  /** The page that it leads on to, once the factor is on. */
  readonly next: string
  /** That of the page's address, which may name the workspace that the tab shows. */
  readonly query: string
}

interface FactorPage extends Onward {
  readonly demand: Demand
  /** Undefined: there is no form. */
  readonly account?: AccountFactor
}

const statuses: Partial<Record<PageState, number>> = { 'wrong code': 401, required: 409 }

export function secondFactorPage(state: PageState, { demand, next, query, account }: FactorPage): HttpReply {
  const status = typeof state === 'number' ? state : (statuses[state] ?? 200)
  const { refused } = demand
  const before = refused === undefined ? '' : refusedNote(refused.workspace)
  const isFaulty = state !== 200 && !isNote(state)
  const form = account === undefined ? '' : formOf(account, demand, { next, query }, isFaulty)
  const after =
    refused === undefined
      ? onwardLink({ next: account?.on === undefined ? '/dashboard' : next, query })
      : elsewhere(refused)
  return plainPage(status, title, `${before}${noteOf(state)}${form}${after}`)
}

function onwardLink({ next, query }: Onward): string {
  const [path, said] =
    next === '/dashboard'
      ? [inWorkspaceOf(query, '/dashboard/settings'), 'Back to the settings']
      : [next, 'Go on to the page before']
  return `<p><a href="${escapeHtml(path)}">${said}</a></p>`
}

function refusedNote(workspace: string): string {
  return `<p role="status">The workspace <strong>${escapeHtml(workspace)}</strong> requires a second factor of its members. Set yours up to see it.</p>`
}

function elsewhere({ others }: NonNullable<Demand['refused']>): string {
  const links = others.map(
    ({ id, name }) => `<li><a href="${inWorkspace('/dashboard', id)}"><bdi>${escapeHtml(name)}</bdi></a></li>`,
  )
  const move = others.length === 0 ? '' : `<p>Go on in another workspace:</p><ul>${links.join('')}</ul>`
  return `${move}<form method="post" action="/dashboard/sign-out"><button type="submit">Sign out</button></form>`
}

/** The only time that the codes can be read. */
export function recoveryCodesPage(codes: readonly string[], made: 'on' | 'again', onward: Onward): HttpReply {
  const said =
    made === 'on'
      ? 'The second factor is on. All other browsers of this account are signed out.'
      : 'The recovery codes of before work no longer.'
  return plainPage(
    200,
    'Recovery codes',
    `<p role="status">${said}</p><p>Keep these codes: each signs you in once, in place of the app’s. They are shown only now.</p>
<pre role="group" tabindex="0" aria-label="Recovery codes">${codes.join('\n')}</pre>${onwardLink(onward)}`,
  )
}

const isNote = (state: PageState): state is keyof typeof notes => state in notes

function noteOf(state: PageState): string {
  if (state === 200) return ''
  if (isNote(state)) return `<p role="status">${notes[state]}</p>`
  return fault(texts[state])
}

function formOf(
  { email, begun, on }: AccountFactor,
  { requiredBy }: Demand,
  onward: Onward,
  isFaulty: boolean,
): string {
  if (begun !== undefined) return setUpForm(begun, onward, isFaulty)
  if (on !== undefined) return turnForm(email, on, requiredBy, onward)
  return `<p>Signing in by password then asks for a code of an authenticator app on your phone, too. A password that somebody learns is not enough.</p>
${formWith(`${passwordFields(email)}<button type="submit" name="wish" value="begin">Set it up</button>`, onward)}`
}

function setUpForm({ secret, uri }: NonNullable<AccountFactor['begun']>, onward: Onward, isFaulty: boolean): string {
  const source = `data:image/svg+xml,${encodeURIComponent(renderSVG(uri, { border: 4 }))}`
  return `<p>Scan this with an authenticator app, or type the key into it. Then enter the code that the app shows.</p>
<p><img class="qr" src="${source}" alt="QR code for an authenticator app" width="200" height="200"></p>
<p id="key">Key: time-based, 6 digits</p><pre role="group" tabindex="0" aria-labelledby="key">${escapeHtml(secret.replace(/(.{4})(?=.)/g, '$1 '))}</pre>
${formWith(`<label>Code <input name="code" inputmode="numeric" autocomplete="one-time-code" required ${focusedField(isFaulty)}></label><button type="submit" name="wish" value="confirm">Turn it on</button>`, onward)}`
}

function turnForm(
  email: string,
  { since, recoveryCodesLeft }: NonNullable<AccountFactor['on']>,
  requiredBy: readonly string[],
  onward: Onward,
): string {
  const off =
    requiredBy.length === 0 ? '<button type="submit" class="danger" name="wish" value="off">Turn it off</button>' : ''
  const why =
    requiredBy.length === 0
      ? ''
      : `<p>It can’t be turned off while a workspace requires it: ${requiredBy.map((name) => `<strong>${escapeHtml(name)}</strong>`).join(', ')}.</p>`
  // Enter presses the first button. It must not take the codes of before from somebody who wants it off.
  const noEnter = '<button type="submit" hidden disabled></button>'
  return `<p>On since ${since.toISOString().slice(0, 10)}. ${recoveryCodesLeft} of ${recoveryCodesCount} recovery codes are left.</p>${why}
${formWith(
  `${noEnter}${passwordFields(email)}${codeField('Code of the app, or a recovery code')}
<button type="submit" name="wish" value="codes">Make other recovery codes</button>${off}`,
  onward,
)}`
}

function formWith(fields: string, { next, query }: Onward): string {
  const kept = `<input type="hidden" name="next" value="${escapeHtml(next)}">`
  return `<form class="panel" method="post" action="${inWorkspaceOf(query, factorPath)}">${kept}${fields}</form>`
}

/** For a code of either kind. */
export function codeField(label: string): string {
  return `<label>${label} <input name="code" autocomplete="one-time-code" autocapitalize="none" spellcheck="false" required></label>`
}

export function passwordFields(email: string): string {
  return `<label>E-mail <input type="email" value="${escapeHtml(email)}" autocomplete="username" readonly></label>
<label>Current password <input name="current" type="password" autocomplete="current-password" required></label>`
}
