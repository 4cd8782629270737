/**
 * The oracle's input: the rows of one workspace as plain objects. The oracle computes every figure of the overview from
 * these alone, by the shortest way that is obviously right, however slow. It is written from docs/metrics.md and shares
 * no code with what it judges.
 */
import type { BotVisitRow, EventRow } from '../../schemas/event/row.ts'

export type EventFact = EventRow
export type BotVisitFact = BotVisitRow

/** An e-mail of an identify or conversion event, as the inbox holds it. Times are milliseconds since 1970 UTC. */
export interface EmailFact {
  readonly email: string
  readonly occurredAt: number
}

/** From this moment on a browser's events are a contact's; from the first one on, where it is the browser's first binding. */
export interface BindingFact {
  readonly visitor: { readonly hi: number; readonly lo: number }
  /** The hash of the contact's e-mail. */
  readonly contact: number
  readonly from: number
}

export interface Facts {
  readonly events: readonly EventFact[]
  readonly botVisits: readonly BotVisitFact[]
  readonly emails: readonly EmailFact[]
  /** By the e-mails' hashes; each that is bound to, and others. */
  readonly contacts: readonly number[]
  readonly bindings: readonly BindingFact[]
}

export const noFacts: Facts = { events: [], botVisits: [], emails: [], contacts: [], bindings: [] }

export interface OverviewQuery {
  readonly days?: number
  readonly hours?: number
  readonly start?: string
  readonly end?: string
  readonly limit?: number
  readonly interval?: 'hour' | 'day' | 'week' | 'month'
  readonly compare?: 'previous' | 'year' | 'none'
  /** Values by the name of a filter, as they stand in the query. */
  readonly filters?: Readonly<Partial<Record<FilterName, readonly string[]>>>
}

const filterNames = [
  'source',
  'medium',
  'channel',
  'campaign',
  'entry_path',
  'exit_path',
  'device',
  'browser',
  'os',
  'country',
  'region',
  'city',
  'path',
  'hostname',
  'event',
  'event_property',
] as const
export type FilterName = (typeof filterNames)[number]

export interface OracleWorkspace {
  readonly timezone: string
  /** How many days back analytics can be read: the plan's days, or fewer where the customer wishes so. */
  readonly retentionDays: number
}

/** The kinds of events, by the numbers that their column holds. */
export const kind = {
  pageview: 1,
  custom: 2,
  autocapture: 3,
  webVital: 4,
  pageLeave: 5,
  identify: 6,
  conversion: 7,
} as const

export const second = 1000
export const minute = 60 * second
export const hour = 60 * minute
export const day = 24 * hour

/** The visitor as a text; empty for none. */
export function visitorOf(event: EventFact): string {
  const { hi, lo } = event.visitor
  return hi === 0 && lo === 0 ? '' : `${hi}:${lo}`
}

/** The session id of a visitor's event; 0 for none. Sessions themselves are named by `sessionNames`. */
export function sessionOf(event: EventFact): number {
  return visitorOf(event) === '' ? 0 : Number(event.session)
}

/** Visitor and session id of an event as a text; empty without a visitor. */
export function pairOf(event: EventFact): string {
  return visitorOf(event) === '' ? '' : `${visitorOf(event)} ${event.session}`
}

/** Older first; events of one moment by id. */
export function byTime(a: EventFact, b: EventFact): number {
  return a.occurred_at - b.occurred_at || Number(a.id) - Number(b.id)
}

/** Source and medium as the figures show them. */
export function channelOf(event: EventFact): { source: string; medium: string } {
  return event.source === '' ? { source: 'direct', medium: 'none' } : { source: event.source, medium: event.medium }
}

export function countDistinct<T>(values: Iterable<T>): number {
  return new Set(values).size
}

export function groupBy<T, K>(items: Iterable<T>, key: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>()
  for (const item of items) {
    const group = groups.get(key(item))
    if (group) group.push(item)
    else groups.set(key(item), [item])
  }
  return groups
}
