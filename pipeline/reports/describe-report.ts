/** The content of a report. Pure; test/unit/report-mail.test.ts. */
import { type ComparedName, change, changeText, makeFigureTexts } from '../../schemas/figure-texts.ts'
import type { TrafficSpike } from '../../schemas/resources/traffic-alert.ts'
import { allFigures, dashboardUrlOf, type Message, plain, type Row, type Table } from './message.ts'
import type { Report } from './read-report.ts'

/** Messages are written in English, wherever the process runs. */
export const locale = 'en'
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

/** @param apiHost empty where it isn't set */
export function describeReport(report: Report, apiHost: string): Message {
  const { every, first, last } = report
  const name = plain(report.workspace.name)
  return {
    name,
    headline: periodOf(report),
    note: keptFrom(report.metrics),
    dashboardUrl: dashboardUrlOf(
      apiHost,
      report.workspace,
      `/dashboard?${new URLSearchParams({ start: first, end: last })}`,
    ),
    linkText: allFigures,
    reason: `You get this ${every} report because the owner of ${name} added your address.`,
    tables: [figuresOf(report), pagesOf(report), sourcesOf(report)],
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
  return { title: 'Figures, and their change to the time before', rows: [...rows, ...withoutRate(metrics)] }
}

/** Payments that the revenue lacks: a shop may be paid in another currency than the workspace's alone. */
function withoutRate({ revenue_by_currency }: Report['metrics']): Row[] {
  const amounts = Object.entries(revenue_by_currency).map(([code, cents]) => money(cents, code))
  return amounts.length === 0
    ? []
    : [{ label: 'Revenue without an exchange rate', value: amounts.join(', '), note: '' }]
}

export function pagesOf({ top_pages }: Pick<TrafficSpike, 'top_pages'>): Table {
  const rows = top_pages.map(({ path, title, pageviews }) => ({
    label: plain(path),
    note: plain(title),
    value: number(pageviews),
  }))
  return { title: 'Pages, by page views', rows }
}

export function sourcesOf({ top_sources }: Pick<TrafficSpike, 'top_sources'>): Table {
  // One without visitors is listed for its revenue alone.
  const seen = top_sources.filter(({ visitors }) => visitors > 0)
  const rows = seen.map(({ source, medium, visitors }) => ({
    label: plain(source),
    note: medium === 'none' ? '' : plain(medium),
    value: number(visitors),
  }))
  return { title: 'Sources, by visitors', rows }
}
