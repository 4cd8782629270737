/** The page of events over time: what its address says, what it asks, and the rows of the answer. Pure; test/unit/events-view.test.ts. */
import { bucketsMax, eventSeriesRowsMax } from '../../../schemas/limits/series-limits.ts'
import type { EventNames } from '../../../schemas/resources/event-names.ts'
import { lengthOf, listQuestionOf, ranges, type View, wholeDaysOf, writeView } from '../view/address.ts'

const eventIntervals = { hour: 'By hour', day: 'By day', week: 'By week', month: 'By month' } as const
export type EventInterval = keyof typeof eventIntervals

export const eventFigures = { events: 'Events', visitors: 'Visitors' } as const
export type EventFigure = keyof typeof eventFigures

export interface EventsView {
  /** Undefined: as the range is long. */
  readonly interval?: EventInterval | undefined
  readonly figure: EventFigure
  /** The name of the events that are shown alone. */
  readonly of?: string | undefined
  /** Those of `of` are divided by it. */
  readonly property?: string | undefined
  /** Rows in the chart: names of events, or values. None: the first ones. */
  readonly rows: readonly string[]
}

const page = '/dashboard/events'
const rowsMax = 100
/** Lines that a chart has before any are chosen. */
const firstLines = 5

/** Whatever isn't known is as if it weren't there. */
export function readEvents(search: string): EventsView {
  const params = new URLSearchParams(search)
  const interval = params.get('interval') ?? ''
  const of = params.get('of') || undefined
  return {
    interval: Object.hasOwn(eventIntervals, interval) ? (interval as EventInterval) : undefined,
    figure: params.get('figure') === 'visitors' ? 'visitors' : 'events',
    of,
    property: of === undefined ? undefined : params.get('property') || undefined,
    rows: params.getAll('row'),
  }
}

/** The address of the page. */
export function writeEvents(view: View, { interval, figure, of, property, rows }: EventsView): string {
  const params = new URLSearchParams()
  if (interval !== undefined) params.set('interval', interval)
  if (figure !== 'events') params.set('figure', figure)
  if (of !== undefined) params.set('of', of)
  if (property !== undefined) params.set('property', property)
  for (const row of rows) params.append('row', row)
  const query = [params.toString(), writeView(view).slice(1)].filter((text) => text !== '').join('&')
  return query === '' ? page : `${page}?${query}`
}

/** Hours of a single day, else days; also where the range has too many of the hours that the address names. */
export function intervalOf(view: View, { interval }: EventsView): EventInterval {
  const chosen = interval ?? (daysIn(view) <= 1 ? 'hour' : 'day')
  return Object.hasOwn(intervalsOf(view), chosen) ? chosen : 'day'
}

/** The intervals that the API takes for the range. A day by which clocks are set back has 25 hours. */
export function intervalsOf(view: View): Readonly<Partial<Record<EventInterval, string>>> {
  const { hour, ...longer } = eventIntervals
  return daysIn(view) * 24 + 1 > bucketsMax ? longer : { hour, ...longer }
}

function daysIn({ range, days }: View): number {
  return days === null ? ranges[range].days : lengthOf(wholeDaysOf(days))
}

/** The path that asks for the rows. */
export function eventsQuestionOf(view: View, events: EventsView): string {
  const params = new URLSearchParams({ interval: intervalOf(view, events), limit: String(rowsMax) })
  if (view.compare !== 'none') params.set('compare', view.compare)
  if (events.of !== undefined) params.set('name', events.of)
  if (events.property !== undefined) params.set('property', events.property)
  return `/analytics/events?${params}&${listQuestionOf(view)}`
}

export interface EventLine {
  /** The name of the event, or the value. */
  readonly key: string
  readonly row: EventNames['rows'][number]
  /** Its colour and stroke in the chart; undefined where it has no counts. */
  readonly look: number | undefined
  /** Its counts in the buckets, in order; undefined where the answer has none for it. */
  readonly counts: readonly Readonly<Record<EventFigure, number>>[] | undefined
}

export function linesOf({ rows, series = [] }: EventNames): EventLine[] {
  const counted = series[0]?.rows.length ?? 0
  const keys = rows.map(({ event, value }) => value ?? event)
  const looks = looksOf(keys.slice(0, counted))
  return rows.map((row, place) => {
    const counts = place < counted ? series.map((bucket) => bucket.rows[place]!) : undefined
    return { key: keys[place]!, row, look: looks.get(keys[place]!), counts }
  })
}

/** By their names, so that a line keeps its colour in another order: the look that the name draws, or the next free one. */
function looksOf(keys: readonly string[]): ReadonlyMap<string, number> {
  const keyOfLook = new Map<number, string>()
  for (const key of keys.toSorted()) {
    let look = drawOf(key) % eventSeriesRowsMax
    while (keyOfLook.has(look)) look = (look + 1) % eventSeriesRowsMax
    keyOfLook.set(look, key)
  }
  return new Map([...keyOfLook].map(([look, key]) => [key, look]))
}

/** FNV-1a of its UTF-16 units. */
function drawOf(text: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193) >>> 0
  return hash
}

export const eventColumns = {
  events: 'Events',
  visitors: 'Visitors',
  visitor_share: 'Share',
  sessions: 'Sessions',
  conversions: 'Conversions',
} as const
export type EventColumn = keyof typeof eventColumns
export const eventColumnNames = Object.keys(eventColumns) as EventColumn[]

export interface EventSort {
  readonly by: EventColumn
  readonly isRising: boolean
}

/** Equal ones stay in the order of the answer. */
export function sortedLines(lines: readonly EventLine[], { by, isRising }: EventSort): EventLine[] {
  const sign = isRising ? 1 : -1
  return lines.toSorted((one, other) => sign * (one.row[by] - other.row[by]))
}

/** Whether an answer, which may be of another question, has rows that the page may show meanwhile. */
export function isOfThese({ rows }: EventNames, { of }: EventsView): boolean {
  return rows.every(({ event, value }) => (of === undefined ? value === null : event === of))
}

/** Those that are chosen and counted in buckets; the first ones where there are none. */
export function chosenLines(lines: readonly EventLine[], { rows }: EventsView): EventLine[] {
  const counted = lines.filter(({ counts }) => counts !== undefined)
  const chosen = counted.filter(({ key }) => rows.includes(key))
  return chosen.length > 0 ? chosen : counted.slice(0, firstLines)
}

export function isCut({ rows }: EventNames): boolean {
  return rows.length === rowsMax
}
