/** The page on which a person lets an app in, or doesn't: plain HTML, which runs no script. */
import type { HttpReply } from '../../../runtime/http/reply.ts'
import { escapeHtml } from '../../../schemas/escape-html.ts'
import type { Scope } from '../../../schemas/scopes.ts'
import { authorizePath } from '../../oauth/metadata.ts'
import { shownTarget } from '../../oauth/redirect-uris.ts'
import { fault, plainPage } from '../pages.ts'
import type { AppRequest, RequestFault } from './request.ts'

const texts = {
  answered: 'This request was answered before. Begin again in the app.',
  none: 'Choose at least one thing that the app may do, or refuse.',
  moved: 'This browser is signed in with another account by now. Look again, and decide anew.',
  denied: 'You are no member of this workspace by now, or it is suspended.',
} as const
const statuses = { answered: 409, none: 422, moved: 409, denied: 403 } as const

export type ConsentNote = keyof typeof texts

const meanings: Readonly<Record<Scope, string>> = {
  'workspace:read': 'The workspace’s name, timezone and plan',
  'profile:read': 'The company profile',
  'profile:write': 'The company profile: its sources and media',
  'accounts:read': 'Social accounts, without their credentials',
  'media:read': 'Media',
  'media:write': 'Media: upload, describe and delete',
  'posts:read': 'Posts',
  'posts:write': 'Posts: write them and, as far as your role allows, publish them',
  'links:read': 'Tracked links',
  'links:write': 'Tracked links: make and change',
  'analytics:read': 'Visitors, conversions, revenue, and people with their e-mails',
  'analytics:write': 'Goals, notes, segments, funnels and traffic left out',
  'replays:read': 'Recordings of sessions',
  'audit:read': 'The audit log',
  'webhooks:read': 'Webhooks and their deliveries',
  'webhooks:write': 'Webhooks: make, test and delete',
}

export interface Consenting {
  readonly request: AppRequest
  readonly account: { readonly id: number; readonly email: string }
  readonly workspace: { readonly id: number; readonly name: string }
  /** Others of the account, which may be chosen instead. */
  readonly others: readonly { readonly id: number; readonly name: string }[]
  /** The part of the app's scopes that the member's role has. */
  readonly scopes: readonly Scope[]
}

/** @param note why the form is shown again */
export function consentPage(consenting: Consenting, note?: ConsentNote): HttpReply {
  const { request, account, workspace, scopes } = consenting
  const { client, redirectUri } = request
  const hidden = hiddenFields([...request.fields, ['workspace', String(workspace.id)], ['account', String(account.id)]])
  const choice =
    scopes.length === 0
      ? '<p>Your role in this workspace has none of the rights that the app asks for.</p>'
      : `${choicesOf('It may read', scopes.filter(reads), true)}${choicesOf(
          'It may change',
          scopes.filter((scope) => !reads(scope)),
          false,
        )}<button type="submit" name="answer" value="allow">Allow</button>`
  return plainPage(
    note === undefined ? 200 : statuses[note],
    'Connect an app',
    `${note === undefined ? '' : fault(texts[note])}<p>An app that calls itself <bdi><strong>${escapeHtml(client.name)}</strong></bdi> asks to act for you in the workspace <bdi><strong>${escapeHtml(workspace.name)}</strong></bdi>, over MCP.</p>
<p>Nobody has checked the name. The answer goes to <strong>${escapeHtml(shownTarget(redirectUri))}</strong>. Refuse if you don’t know it, or didn’t begin this yourself.</p>
<p>You are signed in as <bdi>${escapeHtml(account.email)}</bdi>.</p>${otherWorkspaces(consenting)}
<form class="panel editor" method="post" action="${authorizePath}">${hidden}${choice}<button type="submit" class="danger" name="answer" value="deny">Refuse</button></form>
<p>The app may never do more than you may. <em>Settings</em>, <em>Connected apps</em> ends it at any time.</p>`,
  )
}

const reads = (scope: Scope) => scope.endsWith(':read')

function choicesOf(legend: string, scopes: readonly Scope[], isChosen: boolean): string {
  if (scopes.length === 0) return ''
  const boxes = scopes.map(
    (scope) =>
      `<label class="choice"><input type="checkbox" name="scopes" value="${scope}"${isChosen ? ' checked' : ''}> ${meanings[scope]}</label>`,
  )
  return `<fieldset><legend>${legend}</legend>${boxes.join('')}</fieldset>`
}

function otherWorkspaces({ request, workspace, others }: Consenting): string {
  if (others.length === 0) return ''
  const options = [workspace, ...others].map(({ id, name }) => `<option value="${id}">${escapeHtml(name)}</option>`)
  return `<form class="panel" method="get" action="${authorizePath}">${hiddenFields(request.fields)}<label>Workspace <select name="workspace">${options.join('')}</select></label><button type="submit">Take this one</button></form>`
}

function hiddenFields(fields: AppRequest['fields']): string {
  return fields
    .map(([name, value]) => `<input type="hidden" name="${escapeHtml(name)}" value="${escapeHtml(value)}">`)
    .join('')
}

/**
 * Goes to the app. It isn't a redirect: browsers hold those of a form to our own `form-action`, and an app's scheme leaves
 * this page standing.
 */
export function leadBack(to: string, isConnected: boolean): HttpReply {
  const [title, text] = isConnected
    ? ['Connected', 'The app is connected. You can close this page if the app has come back.']
    : ['Refused', 'The app gets nothing.']
  const shown = plainPage(
    200,
    title,
    `<p role="status">${text}</p><p><a href="${escapeHtml(to)}">Back to the app</a></p>`,
  )
  // The address has the code: the app's page gets no referrer, and no cache this page.
  return { ...shown, headers: { ...shown.headers, Refresh: `0;url=${to}`, 'Referrer-Policy': 'no-referrer' } }
}

/** The request can't be answered: whoever looks decides whether to tell the app. */
export function faultPage({ fault: text, back }: RequestFault): HttpReply {
  const link = back === undefined ? '' : `<p><a href="${escapeHtml(back)}">Back to the app</a></p>`
  return plainPage(400, 'This app can’t be connected', `${fault(text)}${link}`)
}
