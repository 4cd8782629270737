/**
 * Mails about accounts: each with one link, in plain text and the same as simple HTML. Names of workspaces are what anybody
 * wrote: they are cut, lose what could break a line or turn the direction of writing, and are escaped. Pure.
 */
import type { OpenInvitation } from '../../postgres/tables/members/invitations.ts'
import { escapeHtml } from '../../schemas/escape-html.ts'
import { roleWithArticle } from '../../schemas/role-with-article.ts'
import type { Mail } from '../reports/mailer.ts'
import { plain } from '../reports/message.ts'

export type MailContent = Pick<Mail, 'subject' | 'text' | 'html'>

interface MailLink {
  readonly apiHost: string
  readonly token: string
}

/** For a forgotten password. */
export function writeResetMail({ apiHost, token }: MailLink): MailContent {
  return written('A new password', {
    before: said`Somebody, perhaps you, asked at ${apiHost} for a new password of the account with this e-mail.`,
    does: 'Choose a new password',
    url: `${apiHost}/dashboard/reset?${new URLSearchParams({ token })}`,
    after: 'The link works once, within an hour. If you did not ask for it, do nothing: the password stays as it is.',
  })
}

type Invited = Pick<OpenInvitation, 'workspaceName' | 'inviter' | 'role' | 'expires_at'>

/** Mails are written in English, with times in UTC, wherever the process runs. */
const moment = new Intl.DateTimeFormat('en', { timeZone: 'UTC', dateStyle: 'long', timeStyle: 'short' })

export function writeInvitationMail(
  { workspaceName, inviter, role, expires_at }: Invited,
  { apiHost, token }: MailLink,
): MailContent {
  const name = plain(workspaceName)
  const by = inviter === null ? 'The owner' : plain(inviter)
  const until = `${moment.format(expires_at).replace(/\s/g, ' ')} UTC`
  // No name that anybody wrote: it could hold an address to click, under the service's own.
  return written('Invitation to a workspace', {
    before: said`${by} invites you to the workspace ${name} at ${apiHost}, as ${roleWithArticle(role)}.`,
    does: 'Join the workspace',
    url: `${apiHost}/dashboard/join?${new URLSearchParams({ token })}`,
    after: `The link works once, until ${until}. Whoever has it can join: give it to nobody else. If you do not know who invites you, do nothing.`,
  })
}

/** The same in both forms. */
interface Sentence {
  readonly text: string
  readonly html: string
}

/** Names stand apart in HTML, so that none turns the writing around it. */
function said(parts: TemplateStringsArray, ...names: readonly string[]): Sentence {
  const join = (show: (name: string) => string) =>
    parts.map((part, i) => part + (names[i] === undefined ? '' : show(names[i]))).join('')
  return { text: join((name) => name), html: join((name) => `<bdi>${escapeHtml(name)}</bdi>`) }
}

interface Content {
  readonly before: Sentence
  /** Names the link. */
  readonly does: string
  readonly url: string
  readonly after: string
}

function written(subject: string, { before, does, url, after }: Content): MailContent {
  return {
    subject,
    text: `${before.text}\n\n${does}: ${url}\n\n${after}\n`,
    html: `<!doctype html><html lang="en"><body style="font-family:sans-serif;color:#222">
<p>${before.html}</p>
<p><a href="${escapeHtml(url)}">${does}</a></p>
<p>${after}</p>
</body></html>`,
  }
}
