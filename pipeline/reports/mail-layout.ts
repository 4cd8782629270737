/** How reports and alerts look as mails: plain text, and the same as simple HTML without images. Pure; test/unit/report-mail.test.ts. */
import { escapeHtml } from '../../schemas/escape-html.ts'
import type { Mail } from './mailer.ts'
import type { Message } from './message.ts'

type WrittenMail = Pick<Mail, 'subject' | 'text' | 'html' | 'unsubscribeUrl'>

type MailParts = Message & { readonly unsubscribeUrl: string }

export function composeMail(parts: MailParts): WrittenMail {
  const { name, headline, unsubscribeUrl } = parts
  return { subject: `${name}: ${headline}`, unsubscribeUrl, text: textOf(parts), html: htmlOf(parts) }
}

function textOf({ name, headline, dashboardUrl, linkText, unsubscribeUrl, reason, tables, note }: MailParts): string {
  const parts = tables.map(({ title, rows }) => {
    const lines = rows.map(({ label, value, note }) => `  ${label}: ${value}${note === '' ? '' : ` (${note})`}`)
    return [title, ...(lines.length > 0 ? lines : ['  none'])].join('\n')
  })
  return [
    `${name}, ${headline}`,
    ...(note === '' ? [] : [note]),
    ...parts,
    `${linkText}: ${dashboardUrl}`,
    `${reason}\nUnsubscribe: ${unsubscribeUrl}\n`,
  ].join('\n\n')
}

const grey = 'color:#666;font-size:13px'
const cell = 'padding:4px 12px 4px 0;border-bottom:1px solid #ddd;text-align:left'

function htmlOf({ name, headline, dashboardUrl, linkText, unsubscribeUrl, reason, tables, note }: MailParts): string {
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
<p><a href="${escapeHtml(dashboardUrl)}">${linkText}</a></p>
<p style="${grey}">${escapeHtml(reason)} <a href="${escapeHtml(unsubscribeUrl)}">Unsubscribe</a></p>
</body></html>
`
}
