/** The page on which an owner removes a member's second factor: plain HTML, which runs no script. */
import type { HttpReply } from '../../../runtime/http/reply.ts'
import { escapeHtml } from '../../../schemas/escape-html.ts'
import { inWorkspace } from '../../../schemas/workspace-address.ts'
import { fault, plainPage } from '../pages.ts'
import { codeField, passwordFields, sharedTexts } from './account-page.ts'

export const memberFactorPath = '/dashboard/member-second-factor'

const texts = {
  ...sharedTexts,
  403: 'The owner of the workspace alone removes the second factor of a member.',
  404: 'No member of this workspace with a second factor is meant.',
  elsewhere:
    'This member is in a workspace of another owner, too. Whoever runs the service removes the second factor: <code>npx svc second-factor remove</code>',
} as const

/** 200: the form alone; `removed`: it was removed just now. */
export type MemberPageState = 200 | 'removed' | keyof typeof texts

export interface MemberFactorForm {
  readonly memberId: number
  readonly memberEmail: string
  /** The owner's, who signs in with it. */
  readonly email: string
  /** The owner has a second factor, too. */
  readonly needsCode: boolean
}

const statuses: Partial<Record<MemberPageState, number>> = { removed: 200, 'wrong code': 401, elsewhere: 409 }

/**
 * @param workspaceId the one that it is of; undefined: the settings are those that were opened last
 * @param form undefined: there is none
 */
export function memberFactorPage(state: MemberPageState, workspaceId?: number, form?: MemberFactorForm): HttpReply {
  const status = typeof state === 'number' ? state : statuses[state]!
  const shown = form === undefined || workspaceId === undefined ? '' : formOf(form, workspaceId)
  const settings = '/dashboard/settings'
  const back = `<p><a href="${workspaceId === undefined ? settings : inWorkspace(settings, workspaceId)}">Back to the settings</a></p>`
  return plainPage(status, 'Remove a second factor', `${noteOf(state)}${shown}${back}`)
}

function noteOf(state: MemberPageState): string {
  if (state === 200) return ''
  if (state === 'removed')
    return '<p role="status">The second factor was removed: the password alone signs in. Where the workspace requires one, the member sets up another.</p>'
  return fault(texts[state])
}

function formOf({ memberId, memberEmail, email, needsCode }: MemberFactorForm, workspaceId: number): string {
  return `<p>For <strong><bdi>${escapeHtml(memberEmail)}</bdi></strong>, who lost the app and the recovery codes. The password alone signs in then, so make sure who asks. No session ends.</p>
<form class="panel" method="post" action="${memberFactorPath}"><input type="hidden" name="member" value="${memberId}"><input type="hidden" name="workspace" value="${workspaceId}">
${passwordFields(email)}${needsCode ? codeField('Your own code of the app, or a recovery code') : ''}
<button type="submit" class="danger">Remove the second factor</button></form>`
}
