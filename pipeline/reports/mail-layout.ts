/**
 * How mails with figures look: plain text, and the same as simple HTML without images. Names of pages and sources are what
 * anybody sent: they are cut, lose what could break a line or turn the direction of writing, and are escaped. Pure;
 * test/unit/report-mail.test.ts.
 */
import { escapeHtml } from '../../schemas/install-snippet.ts'
import { reportNameLengthMax } from '../../schemas/limits/report-limits.ts'
import type { Mail } from './mailer.ts'

export interface Row {
  readonly label: string
  readonly value: string
  /** Beside it, and less important. */
  readonly note: string
}

export interface Table {
  readonly title: string
  readonly rows: readonly Row[]
}

export interface MailLinks {
  readonly apiHost: string
  readonly unsubscribeUrl: string
}

export type WrittenMail = Pick<Mail, 'subject' | 'text' | 'html' | 'unsubscribeUrl'>

/** One line, without control characters and those that are not seen, and not longer than a mail can show. */
export function plain(text: string): string {
  const line = text.replace(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u200B-\u200F\u202A-\u202E\u2060-\u2069\uFEFF]+/gu, ' ').trim()
  const letters = [...line]
  return letters.length > reportNameLengthMax ? `${letters.slice(0, reportNameLengthMax - 1).join('')}…` : line
}

/** Texts are `plain` already. */
export interface MailParts extends Pick<MailLinks, 'unsubscribeUrl'> {
  /** The name of the workspace. */
  readonly name: string
  /** Says what the mail is about: in the subject, after the name. */
  readonly headline: string
  readonly dashboardUrl: string
  /** Why somebody gets it. */
  readonly reason: string
  readonly tables: readonly Table[]
  /** Above the tables; empty: none. */
  readonly note: string
}

export function composeMail(parts: MailParts): WrittenMail {
  const { name, headline, unsubscribeUrl } = parts
  return { subject: `${name}: ${headline}`, unsubscribeUrl, text: textOf(parts), html: htmlOf(parts) }
}

function textOf({ name, headline, dashboardUrl, unsubscribeUrl, reason, tables, note }: MailParts): string {
  const parts = tables.map(({ title, rows }) => {
    const lines = rows.map(({ label, value, note }) => `  ${label}: ${value}${note === '' ? '' : ` (${note})`}`)
    return [title, ...(lines.length > 0 ? lines : ['  none'])].join('\n')
  })
  return [
    `${name}, ${headline}`,
    ...(note === '' ? [] : [note]),
    ...parts,
    `All figures, where ${name} is the chosen workspace: ${dashboardUrl}`,
    `${reason}\nUnsubscribe: ${unsubscribeUrl}\n`,
  ].join('\n\n')
}

const grey = 'color:#666;font-size:13px'
const cell = 'padding:4px 12px 4px 0;border-bottom:1px solid #ddd;text-align:left'

function htmlOf({ name, headline, dashboardUrl, unsubscribeUrl, reason, tables, note }: MailParts): string {
  const parts = tables.map(({ title, rows }) => {
    const lines = rows.map(
      ({ label, value, note }) =>
        `<tr><td style="${cell}"><bdi>${escapeHtml(label)}</bdi></td><td style="${cell}"><strong>${escapeHtml(value)}</strong></td><td style="${cell};${grey}"><bdi>${escapeHtml(note)}</bdi></td></tr>`,
    )
    const table = `<table style="border-collapse:collapse">${lines.join('\n')}</table>`
    return `<h2 style="font-size:16px">${title}</h2>\n${lines.length > 0 ? table : '<p>none</p>'}`
  })
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${escapeHtml(`${name}: ${headline}`)}</title></head>
<body style="font-family:sans-serif;max-width:640px">
<h1 style="font-size:20px"><bdi>${escapeHtml(name)}</bdi>, ${escapeHtml(headline)}</h1>
${note === '' ? '' : `<p style="${grey}">${escapeHtml(note)}</p>\n`}${parts.join('\n')}
<p><a href="${escapeHtml(dashboardUrl)}">All figures</a>, where <bdi>${escapeHtml(name)}</bdi> is the chosen workspace</p>
<p style="${grey}">${escapeHtml(reason)} <a href="${escapeHtml(unsubscribeUrl)}">Unsubscribe</a></p>
</body></html>
`
}
