/** Figures as people read them, in the dashboard and in mails. */
import { decimalsOf } from './reference/currencies.ts'

/** Fewer are no base for a change. */
const changeBaseMin = 30

export type ComparedName =
  | 'visitors'
  | 'pageviews'
  | 'sessions'
  | 'bounce_rate'
  | 'average_session_seconds'
  | 'conversions'
  | 'revenue_cents'
/** Figures of one time. */
export type Compared = Readonly<Record<ComparedName, number>>

/** @param locale that of the browser or the process when left out */
export function makeFigureTexts(locale?: string) {
  const whole = new Intl.NumberFormat(locale)
  return {
    number: (value: number): string => whole.format(value),

    percent: (value: number): string => `${whole.format(Math.round(value * 10) / 10)} %`,

    duration(seconds: number): string {
      const rounded = Math.round(seconds)
      if (rounded < 60) return `${rounded}s`
      if (rounded < 3_600) return `${Math.floor(rounded / 60)}m ${rounded % 60}s`
      const minutes = Math.round(rounded / 60)
      return `${Math.floor(minutes / 60)}h ${minutes % 60}m`
    },

    /** @param cents smallest units of the currency */
    money(cents: number, currency: string): string {
      const decimals = decimalsOf(currency)
      // Said, as some are shown without decimals otherwise: then it would be another amount than the API's.
      const digits = { minimumFractionDigits: decimals, maximumFractionDigits: decimals }
      return new Intl.NumberFormat(locale, { style: 'currency', currency, ...digits }).format(cents / 10 ** decimals)
    },
  }
}

/** The change in per cent; undefined where one side is too small to tell. */
export function change(name: ComparedName, now: Compared, before: Compared): number | undefined {
  return changeOf(now[name], before[name], Math.min(baseOf(name, now), baseOf(name, before)))
}

/** The same of two numbers. @param base how many the one of less is made of, such as visitors */
export function changeOf(now: number, before: number, base: number): number | undefined {
  if (before <= 0 || base < changeBaseMin) return undefined
  return Math.round(((now - before) / before) * 100)
}

/** How many the figure is made of. Payments aren't counted: conversions come nearest to them, where there are any. */
function baseOf(name: ComparedName, { visitors, conversions }: Compared): number {
  if (name === 'conversions') return conversions
  return name === 'revenue_cents' && conversions > 0 ? conversions : visitors
}

/** `▲ 12 %` */
export function changeText(per: number): string {
  return `${per > 0 ? '▲' : per < 0 ? '▼' : '='} ${Math.abs(per)} %`
}
