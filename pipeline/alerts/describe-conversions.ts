/** The content of a message about conversions, payments and refunds. Pure; test/integration/conversion-messages.test.ts. */
import { makeFigureTexts } from '../../schemas/figure-texts.ts'
import { conversionMessagesDailyMax } from '../../schemas/limits/alert-limits.ts'
import { type ToldConversions, type ToldLine, toldKinds } from '../../schemas/told-conversions.ts'
import { locale } from '../reports/describe-report.ts'
import { allFigures, dashboardUrlOf, type Message, plain, type Row, type Table } from '../reports/message.ts'
import { localHour } from './local-time.ts'

const { number, money } = makeFigureTexts(locale)

interface Told {
  readonly told: { readonly told: ToldConversions | null; readonly leftOut: number }
  readonly workspace: { readonly id: number; readonly name: string; readonly timezone: string }
}

/** @param apiHost empty where it isn't set */
export function describeConversions({ told: { told, leftOut }, workspace }: Told, apiHost: string): Message {
  const name = plain(workspace.name)
  return {
    name,
    dashboardUrl: dashboardUrlOf(apiHost, workspace, '/dashboard'),
    linkText: allFigures,
    reason: `You get this because whoever manages ${name} chose conversions or payments for your address.`,
    headline: told === null ? 'conversions or payments were left out' : headlineOf(told),
    note: leftOut === 0 ? '' : leftOutText(leftOut),
    tables: told === null ? [] : tablesOf(told, workspace.timezone),
  }
}

function headlineOf({ counts }: ToldConversions): string {
  const named = toldKinds.filter((kind) => counts[kind] > 0)
  return named.map((kind) => `${number(counts[kind])} ${kind}${counts[kind] === 1 ? '' : 's'}`).join(', ')
}

function leftOutText(count: number): string {
  const bound = `At most ${conversionMessagesDailyMax} messages go out in a day, and none that is hours late.`
  return `${number(count)} before ${count === 1 ? 'was' : 'were'} left out. ${bound}`
}

function tablesOf({ counts, lines }: ToldConversions, timezone: string): Table[] {
  const table = (title: string, count: number, own: readonly ToldLine[]): Table[] => {
    if (own.length === 0) return []
    const isCut = count > own.length
    const shown = isCut ? `${title}, the first ${own.length} of ${number(count)}` : title
    return [{ title: shown, rows: own.map((line) => rowOf(line, timezone)) }]
  }
  const ofMoney = lines.filter(({ kind }) => kind !== 'conversion')
  return [
    ...table(
      'Conversions',
      counts.conversion,
      lines.filter(({ kind }) => kind === 'conversion'),
    ),
    ...table('Payments and refunds', counts.payment + counts.refund, ofMoney),
  ]
}

function rowOf(line: ToldLine, timezone: string): Row {
  const time = localHour(new Date(line.at), timezone)
  if (line.kind === 'conversion') {
    const about = [line.path, line.source && `from ${line.source}`].filter(Boolean).join(', ')
    return { label: line.name, value: time, note: about }
  }
  const label = `${line.kind === 'payment' ? 'Payment' : 'Refund'} by ${line.provider}`
  return { label, value: money(line.cents, line.currency), note: time }
}
