/** The lists of the overview: where each comes from, what its rows are called, and which columns its details have. */
import {
  breakdownRowsMax,
  eventNamesMax,
  overviewRowsMax,
  ownListRowsMax,
  pageReportRowsMax,
  propertyValueShownMax,
} from '../../../schemas/limits/overview-limits.ts'
import { type FilterName, filterNames } from '../../../schemas/reference/filter-names.ts'
import type { Breakdown, BreakdownName } from '../../../schemas/resources/breakdown.ts'
import type { EventNames } from '../../../schemas/resources/event-names.ts'
import type { PageReport, PageSort } from '../../../schemas/resources/page-report.ts'
import { duration, money, number, percent } from '../parts/format.ts'
import type { Overview } from '../requests/answers.ts'
import { isShared } from '../shell/shared-page.ts'
import { type Filter, filterOf, literal, propertyFilterOf } from '../view/address.ts'

export interface ListRow {
  /** As its filter takes it; empty for none. */
  readonly key: string
  readonly label: string
  readonly title?: string
  /** Medium of a source that is listed by medium. */
  readonly medium?: string
  /** One that isn't known is left out. */
  readonly figures: Readonly<Partial<Record<ColumnName, number>>>
}

export const columns = {
  visitors: { label: 'Visitors', show: number },
  visitor_share: { label: 'Share', show: percent },
  pageviews: { label: 'Page views', show: number },
  sessions: { label: 'Sessions', show: number },
  events: { label: 'Events', show: number },
  conversions: { label: 'Conversions', show: number },
  revenue_cents: { label: 'Revenue', show: money },
  bounce_rate: { label: 'Bounce rate', show: percent },
  average_session_seconds: { label: 'Session length', show: duration },
  entries: { label: 'Entries', show: number },
  exits: { label: 'Exits', show: number },
  exit_rate: { label: 'Exit rate', show: percent },
  time_on_page_seconds: { label: 'Time on page', show: duration },
  scroll_depth: { label: 'Scroll depth', show: percent },
} as const satisfies Record<string, { label: string; show(value: number, currency: string): string }>
export type ColumnName = keyof typeof columns

export interface ListSort {
  readonly by: ColumnName
  readonly isRising: boolean
}

export interface ListKind {
  readonly title: string
  /** The head of the column of names; the title where it is left out. */
  readonly heading?: string
  /** Undefined: there is none, and no click on a row. */
  readonly filter: FilterName | undefined
  /** The first is what rows are ordered by. */
  readonly columns: readonly ColumnName[]
  /** The path that asks for it, without its times, comparison and filters. `sort` counts where `isSortedByApi`. */
  ask(limit: number, sort?: ListSort): string
  /** Rows are asked for in the wanted order: `limitMax` may be fewer than there are. */
  readonly isSortedByApi?: true
  /** Rows from the answer to `ask`, or from the overview where that has the list. */
  rowsOf(answer: Overview & Breakdown): readonly ListRow[]
  readonly limitMax: number
  /** Whether the overview has it. */
  readonly isOfOverview: boolean
  /** Another list of the same rows with more columns. */
  readonly report?: ListKind
  /** Rows are events, whose properties can be looked at. */
  readonly isOfEvents?: true
  /** Rows are values of this property of this event. */
  readonly valuesOf?: { readonly event: string; readonly property: string }
}

export function isClickable({ filter }: ListKind, { key }: ListRow): boolean {
  return filter !== undefined && key !== ''
}

/** Filters that a click on a row sets. All of a source is left out, as no filter leaves out a pair. */
export function filtersOf({ filter, valuesOf }: ListKind, { key, medium }: ListRow, isNot: boolean): Filter[] {
  if (filter === undefined) return []
  if (valuesOf) {
    const pattern = literal(key) + ([...key].length >= propertyValueShownMax ? '*' : '')
    return [filterOf('event', valuesOf.event), propertyFilterOf(valuesOf.property, pattern, isNot)]
  }
  return [filterOf(filter, key, isNot), ...(medium === undefined || isNot ? [] : [filterOf('medium', medium)])]
}

/** Stands for what has no name. */
export function namelessOf(name: FilterName | BreakdownName): string {
  return name.endsWith('path') ? '(no page)' : 'none'
}

function ofOverview(
  title: string,
  filter: FilterName,
  member: 'top_sources' | 'top_pages' | 'devices' | 'browsers' | 'countries',
  names: readonly ColumnName[],
  rowOf: (row: Record<string, unknown>) => Omit<ListRow, 'figures'>,
): ListKind {
  return {
    title,
    filter,
    columns: names,
    limitMax: isShared ? overviewRowsMax : ownListRowsMax,
    isOfOverview: true,
    ask: (limit) => `/analytics/${limit > overviewRowsMax ? 'lists' : 'overview'}?include=${member}&limit=${limit}`,
    rowsOf: (answer) =>
      ((answer[member] ?? []) as readonly Record<string, unknown>[]).map((row) => ({
        ...rowOf(row),
        figures: Object.fromEntries(names.map((name) => [name, row[name] as number])),
      })),
  }
}

function ofSessions(title: string, by: BreakdownName): ListKind {
  const names = ['visitors', 'sessions', 'bounce_rate', 'average_session_seconds'] as const
  return {
    title,
    columns: names,
    limitMax: breakdownRowsMax,
    isOfOverview: false,
    filter: filterNames.find((name) => name === by),
    ask: (limit) => `/analytics/breakdown?by=${by}&limit=${limit}`,
    rowsOf: ({ rows }) =>
      rows.map(({ key, label, ...figures }) => ({ key, label: label === '' ? namelessOf(by) : label, figures })),
  }
}

/** Sessions of the rows of a list that the overview has without them. */
function sessionsBy(heading: string, by: BreakdownName): Pick<ListKind, 'report'> {
  return { report: { ...ofSessions(`Sessions by ${by}`, by), heading } }
}

const counts = ['visitors', 'sessions', 'pageviews', 'conversions', 'revenue_cents'] as const
const keyed = (row: Record<string, unknown>) => ({ key: String(row['key']), label: String(row['label']) })

export const sources: ListKind = {
  ...ofOverview('Sources', 'source', 'top_sources', counts, ({ source, medium }) => ({
    key: String(source),
    label: medium === 'none' ? String(source) : `${source} / ${medium}`,
    // Who comes directly has no other medium.
    ...(source !== 'direct' && { medium: String(medium) }),
  })),
  ...sessionsBy('Source', 'source'),
}
const pageReport: ListKind = {
  title: 'Page report',
  heading: 'Page',
  filter: 'path',
  limitMax: pageReportRowsMax,
  isOfOverview: false,
  columns: [
    'pageviews',
    'visitors',
    'sessions',
    'entries',
    'exits',
    'exit_rate',
    'bounce_rate',
    'time_on_page_seconds',
    'scroll_depth',
    'conversions',
    'revenue_cents',
  ] satisfies PageSort[],
  isSortedByApi: true,
  ask: (limit, { by, isRising } = { by: 'pageviews', isRising: false }) =>
    `/analytics/pages?limit=${limit}&sort=${by}&order=${isRising ? 'asc' : 'desc'}`,
  rowsOf: (answer) =>
    (answer as unknown as PageReport).rows.map(({ path, title, time_on_page_seconds, scroll_depth, ...figures }) => ({
      key: path,
      label: path || namelessOf('path'),
      title: `${title}\n${path}`,
      figures: {
        ...figures,
        ...(time_on_page_seconds !== null && { time_on_page_seconds }),
        ...(scroll_depth !== null && { scroll_depth }),
      },
    })),
}
const topPages = ofOverview(
  'Pages',
  'path',
  'top_pages',
  ['pageviews', 'visitors', 'sessions', 'conversions', 'revenue_cents', 'bounce_rate'],
  ({ path, title }) => ({ key: String(path), label: String(path) || namelessOf('path'), title: `${title}\n${path}` }),
)
export const pages: ListKind = { ...topPages, report: pageReport }
export const countries: ListKind = {
  ...ofOverview('Countries', 'country', 'countries', counts, keyed),
  ...sessionsBy('Country', 'country'),
}
export const devices: ListKind = {
  ...ofOverview('Devices', 'device', 'devices', counts, keyed),
  ...sessionsBy('Device', 'device'),
}
export const browsers: ListKind = {
  ...ofOverview('Browsers', 'browser', 'browsers', counts, keyed),
  ...sessionsBy('Browser', 'browser'),
}
export const channels = ofSessions('Channels', 'channel')
export const campaigns = ofSessions('Campaigns', 'campaign')
export const entryPages = ofSessions('Entry pages', 'entry_path')
export const exitPages = ofSessions('Exit pages', 'exit_path')
export const systems = ofSessions('Systems', 'os')
export const regions = ofSessions('Regions', 'region')
export const cities = ofSessions('Cities', 'city')
export const contents = ofSessions('Contents', 'content')
export const referrers = ofSessions('Referrers', 'referrer')
export const hostnames = ofSessions('Hostnames', 'hostname')
export const screens = ofSessions('Screens', 'screen')
export const languages = ofSessions('Languages', 'language')
export const eventNames: ListKind = {
  title: 'Events',
  filter: 'event',
  limitMax: eventNamesMax,
  isOfOverview: false,
  isOfEvents: true,
  columns: ['visitors', 'events', 'sessions', 'conversions'],
  ask: (limit) => `/analytics/events?limit=${limit}`,
  rowsOf: (answer) =>
    (answer as unknown as EventNames).rows.map(({ event, visitors, events, sessions, conversions }) => ({
      key: event,
      label: event === '' ? namelessOf('event') : event,
      figures: { visitors, events, sessions, conversions },
    })),
}

/** Events of one name by the values of a property. */
export function valuesOf(event: string, property: string): ListKind {
  const question = new URLSearchParams({ name: event, property })
  return {
    title: `${property} of ${event}`,
    heading: property,
    limitMax: eventNamesMax,
    isOfOverview: false,
    filter: 'event_property',
    valuesOf: { event, property },
    columns: ['visitors', 'visitor_share', 'events', 'conversions'],
    ask: (limit) => `/analytics/events?${question}&limit=${limit}`,
    rowsOf: (answer) =>
      (answer as unknown as EventNames).rows.map(({ value, visitors, visitor_share, events, conversions }) => ({
        key: value ?? '',
        label: value || '(empty)',
        figures: { visitors, visitor_share, events, conversions },
      })),
  }
}
