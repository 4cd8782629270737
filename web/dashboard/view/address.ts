/**
 * Keeps the overview's view in the address: range, comparison and filters as the API's parameters, and what is chosen on the
 * page. Pure; test/unit/dashboard-address.test.ts.
 */
import { type FilterName, filterNames } from '../../../schemas/reference/filter-names.ts'
import { dayAfter, dayMs } from '../parts/calendar-days.ts'

/** By key of the keyboard and of the address: what it is called, and the days asked for. */
export const ranges = {
  d: { name: 'Today', days: 1 },
  w: { name: 'Last 7 days', days: 7 },
  m: { name: 'Last 30 days', days: 30 },
  q: { name: 'Last 90 days', days: 90 },
  y: { name: 'Last 365 days', days: 365 },
} as const
export type RangeKey = keyof typeof ranges
export const rangeKeys = Object.keys(ranges) as RangeKey[]

export const comparisons = {
  previous: 'vs. previous period',
  year: 'vs. previous year',
  none: 'No comparison',
} as const
export type Comparison = keyof typeof comparisons

/** Cards whose figure the chart shows. */
const chartable = [
  'visitors',
  'pageviews',
  'sessions',
  'bounce_rate',
  'average_session_seconds',
  'conversions',
  'revenue_cents',
] as const
export type Chartable = (typeof chartable)[number]

/** Tabs of the overview's panels, by name of the address. The first one is shown without a choice. */
export const panelTabs = {
  sources: ['sources', 'channels', 'campaigns', 'contents', 'referrers'],
  pages: ['pages', 'entry_pages', 'exit_pages', 'hostnames'],
  countries: ['countries', 'regions', 'cities', 'map'],
  devices: ['devices', 'browsers', 'systems', 'screens', 'languages'],
  events: ['events'],
} as const
export type Tab = (typeof panelTabs)[keyof typeof panelTabs][number]
const panels: readonly (readonly Tab[])[] = Object.values(panelTabs)

/** A value as the API takes it: with signs. */
export interface Filter {
  readonly name: FilterName
  readonly value: string
}

/** Local days, both of them included: `YYYY-MM-DD`. Or local moments, of which the second isn't included: `YYYY-MM-DDTHH:MM`. */
export interface Days {
  readonly from: string
  readonly to: string
}

export interface View {
  readonly range: RangeKey
  /** In place of the range. */
  readonly days: Days | null
  /** The days reach to the present, so no end of them is asked for: a part of today is compared with as long a time. */
  readonly isOpen?: boolean
  readonly compare: Comparison
  readonly filters: readonly Filter[]
  readonly card: Chartable
  /** At most one of each panel, without those that are shown anyway. */
  readonly tabs: readonly Tab[]
}

/** Whatever isn't known is as if it weren't there. */
export function readView(search: string): View {
  const params = new URLSearchParams(search)
  const isName = (name: string): name is FilterName => (filterNames as readonly string[]).includes(name)
  const compare = params.get('compare') ?? ''
  const card = params.get('card') ?? ''
  const tabs = params.getAll('tab')
  return {
    range: rangeKeys.find((key) => String(ranges[key].days) === params.get('days')) ?? 'm',
    days: daysOf(params.get('start') ?? '', params.get('end') ?? ''),
    compare: Object.hasOwn(comparisons, compare) ? (compare as Comparison) : 'previous',
    filters: [...params].flatMap(([name, value]) => (isName(name) ? [{ name, value }] : [])),
    card: isChartable(card) ? card : 'visitors',
    tabs: panels.flatMap(([, ...others]) => others.filter((tab) => tabs.includes(tab)).slice(0, 1)),
  }
}

function isChartable(name: string): name is Chartable {
  return (chartable as readonly string[]).includes(name)
}

/** A local day, with a time or without. */
export function isDay(text: string): boolean {
  return /^\d{4}-\d\d-\d\d(T\d\d:\d\d)?$/.test(text) && !Number.isNaN(Date.parse(text))
}

/** Null where one is neither day nor moment, or they end before they begin. */
export function daysOf(from: string, to: string): Days | null {
  return isDay(from) && isDay(to) && (from < to || (from === to && !from.includes('T'))) ? { from, to } : null
}

/** The query of the page's address; empty for what is shown without one. */
export function writeView({ range, days, compare, filters, card, tabs }: View): string {
  const params = new URLSearchParams(days === null ? {} : spanOf(days.from, days.to))
  if (range !== 'm') params.set('days', String(ranges[range].days))
  if (compare !== 'previous') params.set('compare', compare)
  for (const { name, value } of filters) params.append(name, value)
  if (card !== 'visitors') params.set('card', card)
  for (const tab of tabs) params.append('tab', tab)
  const text = params.toString()
  return text === '' ? '' : `?${text}`
}

/** The query that asks the API for it. */
export function questionOf(view: View): string {
  const params = new URLSearchParams({ ...timeOf(view), compare: view.compare })
  for (const { name, value } of view.filters) params.append(name, value)
  return params.toString()
}

/** The query for a list, behind what names it. @param span moments; those of the view when left out */
export function listQuestionOf(view: View, span?: readonly [start: string, end: string]): string {
  const params = new URLSearchParams(span === undefined ? timeOf(view) : spanOf(...span))
  for (const { name, value } of view.filters) params.append(name, value)
  return params.toString()
}

/** The local day of a moment. @param moment milliseconds since 1970 */
export function localDay(moment: number, timeZone: string): string {
  return new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short' }).format(moment)
}

/** @param today the local day */
export function untilNow(view: View, today: string): View {
  return { ...view, isOpen: view.days?.to === today }
}

/** With these days in place of the range; where they are those of a range, it is that one. @param today the local day */
export function withDays(view: View, days: Days, today: string): View {
  const range = days.to === today ? rangeKeys.find((key) => ranges[key].days === lengthOf(days)) : undefined
  return range === undefined ? { ...view, days } : { ...view, days: null, range }
}

/** The range as many days before or after; never one that lies in the future. @param today the local day */
export function shifted(view: View, today: string, by: -1 | 1): View {
  const days = view.days ? wholeDaysOf(view.days) : { from: dayAfter(today, 1 - ranges[view.range].days), to: today }
  const length = lengthOf(days)
  const moved = { from: dayAfter(days.from, by * length), to: dayAfter(days.to, by * length) }
  return moved.to > today ? view : withDays(view, moved, today)
}

/** The days that have a part of it: moments that end at a midnight have none of the day after it. */
export function wholeDaysOf({ from, to }: Days): Days {
  const last = to.includes('T') ? new Date(Date.parse(`${to}Z`) - 60_000).toISOString() : to
  return { from: from.slice(0, 10), to: last.slice(0, 10) }
}

/** @param days local days, both of them included */
export function lengthOf({ from, to }: Days): number {
  return (Date.parse(to) - Date.parse(from)) / dayMs + 1
}

/** The query for the visits of crawlers, which no filter of sessions is about. */
export function crawlersQuestionOf(view: View): string {
  return new URLSearchParams({ ...timeOf(view), limit: '10' }).toString()
}

/** The query for search terms, which no filter of sessions is about. */
export function searchQuestionOf(view: View, chosen: { readonly query?: string; readonly page?: string } = {}): string {
  return new URLSearchParams({ ...timeOf(view), compare: view.compare, ...chosen }).toString()
}

/** The query for the notes of the range. */
export function notesQuestionOf(view: View): string {
  return new URLSearchParams(timeOf(view)).toString()
}

/** The query for the series that a chart compares with. */
export function comparedQuestionOf({ filters }: View, { from, to }: Days, interval: string): string {
  const params = new URLSearchParams({ ...spanOf(from, to), interval, compare: 'none', include: 'traffic_series' })
  for (const { name, value } of filters) params.append(name, value)
  return params.toString()
}

function timeOf({ range, days, isOpen = false }: View): Record<string, string> {
  if (days === null) return { days: String(ranges[range].days) }
  return isOpen ? { start: days.from } : spanOf(days.from, days.to)
}

function spanOf(start: string, end: string) {
  return { start, end }
}

/** A filter of exactly this text, or of all others. */
export function filterOf(name: FilterName, text: string, isNot = false): Filter {
  return { name, value: (isNot ? '!' : '') + literal(text) }
}

/** A filter of sessions by a property of their events. @param pattern of its value, as the API takes it */
export function propertyFilterOf(property: string, pattern: string, isNot = false): Filter {
  return { name: 'event_property', value: `${isNot ? '!' : ''}${literal(property).replace(/:/g, '\\:')}:${pattern}` }
}

/** The pattern of this text alone. */
export function literal(text: string): string {
  return text.replace(/[\\*!]/g, '\\$&')
}

/** A filter's value in words. @param nameOf the name of a value, where it isn't the value itself */
export function shownValue(value: string, nameOf = (text: string) => text): string {
  const isNot = value.startsWith('!')
  return `${isNot ? 'not ' : ''}${nameOf(value.slice(isNot ? 1 : 0).replace(/\\(.)/g, '$1'))}`
}

export function withFilter(view: View, added: Filter): View {
  const isThere = view.filters.some(({ name, value }) => name === added.name && value === added.value)
  return isThere ? view : { ...view, filters: [...view.filters, added] }
}

/** Chosen in its panel. */
export function withTab(view: View, tab: Tab): View {
  const panel = panels.find((tabs) => tabs.includes(tab))!
  const others = view.tabs.filter((other) => !panel.includes(other))
  return { ...view, tabs: tab === panel[0] ? others : [...others, tab] }
}

/** The page that the filters are about, as the API takes it; undefined where there is none, or several may be. */
export function pageOf({ filters }: View): string | undefined {
  const pages = filters.filter(isOfPage)
  return pages.length === 1 ? pages[0]!.value : undefined
}

/** With another page in its place. */
export function withPage(view: View, path: string): View {
  return { ...view, filters: view.filters.map((filter) => (isOfPage(filter) ? filterOf('path', path) : filter)) }
}

const isOfPage = ({ name, value }: Filter) => name === 'path' && !value.startsWith('!')

export function withoutFilter(view: View, at: number): View {
  return { ...view, filters: view.filters.filter((_, place) => place !== at) }
}
