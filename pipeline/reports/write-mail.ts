/**
 * A report as a mail: plain text, and the same as simple HTML without images. Names of pages and sources are what anybody
 * sent: they are cut, lose what could break a line or turn the direction of writing, and are escaped. Pure;
 * test/unit/report-mail.test.ts.
 */
import { type ComparedName, change, changeText, makeFigureTexts } from '../../schemas/figure-texts.ts'
import { escapeHtml } from '../../schemas/install-snippet.ts'
import { reportNameLengthMax } from '../../schemas/limits/report-limits.ts'
import type { Mail } from './mailer.ts'
import type { Report } from './read-report.ts'

/** Mails are written in English, wherever the process runs. */
const locale = 'en'
const { number, percent, duration, money } = makeFigureTexts(locale)

interface Figure {
  readonly name: ComparedName
  readonly label: string
  readonly show: (value: number, currency: string) => string
}

/** Named and written as on the dashboard's cards. */
const figures: readonly Figure[] = [
  { name: 'visitors', label: 'Visitors', show: number },
  { name: 'pageviews', label: 'Page views', show: number },
  { name: 'sessions', label: 'Sessions', show: number },
  { name: 'bounce_rate', label: 'Bounce rate', show: percent },
  { name: 'average_session_seconds', label: 'Session length', show: duration },
  { name: 'conversions', label: 'Conversions', show: number },
  { name: 'revenue_cents', label: 'Revenue', show: money },
]

interface Row {
  readonly label: string
  readonly value: string
  /** Beside it, and less important. */
  readonly note: string
}

interface Table {
  readonly title: string
  readonly rows: readonly Row[]
}

export interface MailLinks {
  readonly apiHost: string
  readonly unsubscribeUrl: string
}

export function writeMail(
  report: Report,
  { apiHost, unsubscribeUrl }: MailLinks,
): Pick<Mail, 'subject' | 'text' | 'html' | 'unsubscribeUrl'> {
  const { every, first, last } = report
  const name = plain(report.workspace.name)
  const period = periodOf(report)
  const dashboardUrl = `${apiHost}/dashboard?${new URLSearchParams({ start: first, end: last })}`
  const reason = `You get this ${every} report because the owner of ${name} added your address.`
  const tables = [figuresOf(report), pagesOf(report), sourcesOf(report)]
  const written = { name, period, dashboardUrl, unsubscribeUrl, reason, tables, kept: keptFrom(report.metrics) }
  return {
    ...{ subject: `${name}: ${period}`, unsubscribeUrl },
    ...{ text: textOf(written), html: htmlOf(written) },
  }
}

function periodOf({ every, first, last }: Report): string {
  const [from, to] = [Date.parse(first), Date.parse(last)]
  if (every === 'monthly') {
    return new Intl.DateTimeFormat(locale, { timeZone: 'UTC', month: 'long', year: 'numeric' }).format(from)
  }
  const format = new Intl.DateTimeFormat(locale, { timeZone: 'UTC', dateStyle: 'medium' })
  return format.formatRange(from, to).replace(/\s/g, ' ')
}

/** Says so where the period begins before what is kept; empty elsewhere. */
function keptFrom({ range: { start, timezone }, readable_from: from }: Report['metrics']): string {
  if (start >= from) return ''
  const day = new Intl.DateTimeFormat(locale, { timeZone: timezone, dateStyle: 'medium' }).format(Date.parse(from))
  return `No figures are kept from before ${day}: the plan, or a shorter retention of the workspace, says so.`
}

function figuresOf({ metrics, workspace: { currency } }: Report): Table {
  const { previous } = metrics
  const hasRevenue = metrics.revenue_cents !== 0 || (previous !== null && previous.revenue_cents !== 0)
  const rows = figures.flatMap(({ name, label, show }): Row[] => {
    if (name === 'revenue_cents' && !hasRevenue) return []
    const changed = previous && change(name, metrics, previous)
    return [{ label, value: show(metrics[name], currency), note: changed == null ? '' : changeText(changed) }]
  })
  return { title: 'Figures, and their change to the time before', rows }
}

function pagesOf({ top_pages }: Report): Table {
  const rows = top_pages.map(({ path, title, pageviews }) => ({
    ...{ label: plain(path), note: plain(title), value: number(pageviews) },
  }))
  return { title: 'Pages, by page views', rows }
}

function sourcesOf({ top_sources }: Report): Table {
  // One without visitors is listed for its revenue alone.
  const seen = top_sources.filter(({ visitors }) => visitors > 0)
  const rows = seen.map(({ source, medium, visitors }) => ({
    ...{ label: plain(source), note: medium === 'none' ? '' : plain(medium), value: number(visitors) },
  }))
  return { title: 'Sources, by visitors', rows }
}

/** One line, without control characters and those that are not seen, and not longer than a mail can show. */
function plain(text: string): string {
  const line = text.replace(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u200B-\u200F\u202A-\u202E\u2060-\u2069\uFEFF]+/gu, ' ').trim()
  const letters = [...line]
  return letters.length > reportNameLengthMax ? `${letters.slice(0, reportNameLengthMax - 1).join('')}…` : line
}

interface Written extends Pick<Mail, 'unsubscribeUrl'> {
  readonly name: string
  readonly period: string
  readonly dashboardUrl: string
  readonly reason: string
  readonly tables: readonly Table[]
  readonly kept: string
}

function textOf({ name, period, dashboardUrl, unsubscribeUrl, reason, tables, kept }: Written): string {
  const parts = tables.map(({ title, rows }) => {
    const lines = rows.map(({ label, value, note }) => `  ${label}: ${value}${note === '' ? '' : ` (${note})`}`)
    return [title, ...(lines.length > 0 ? lines : ['  none'])].join('\n')
  })
  return [
    `${name}, ${period}`,
    ...(kept === '' ? [] : [kept]),
    ...parts,
    `All figures, where ${name} is the chosen workspace: ${dashboardUrl}`,
    `${reason}\nUnsubscribe: ${unsubscribeUrl}\n`,
  ].join('\n\n')
}

const grey = 'color:#666;font-size:13px'
const cell = 'padding:4px 12px 4px 0;border-bottom:1px solid #ddd;text-align:left'

function htmlOf({ name, period, dashboardUrl, unsubscribeUrl, reason, tables, kept }: Written): string {
  const parts = tables.map(({ title, rows }) => {
    const lines = rows.map(
      ({ label, value, note }) =>
        `<tr><td style="${cell}"><bdi>${escapeHtml(label)}</bdi></td><td style="${cell}"><strong>${escapeHtml(value)}</strong></td><td style="${cell};${grey}"><bdi>${escapeHtml(note)}</bdi></td></tr>`,
    )
    const table = `<table style="border-collapse:collapse">${lines.join('\n')}</table>`
    return `<h2 style="font-size:16px">${title}</h2>\n${lines.length > 0 ? table : '<p>none</p>'}`
  })
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${escapeHtml(`${name}: ${period}`)}</title></head>
<body style="font-family:sans-serif;max-width:640px">
<h1 style="font-size:20px"><bdi>${escapeHtml(name)}</bdi>, ${escapeHtml(period)}</h1>
${kept === '' ? '' : `<p style="${grey}">${kept}</p>\n`}${parts.join('\n')}
<p><a href="${escapeHtml(dashboardUrl)}">All figures</a>, where <bdi>${escapeHtml(name)}</bdi> is the chosen workspace</p>
<p style="${grey}">${escapeHtml(reason)} <a href="${escapeHtml(unsubscribeUrl)}">Unsubscribe</a></p>
</body></html>
`
}
