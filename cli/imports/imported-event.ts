/** The events of a line of another product's file, as tracking events. */
import type { devices } from '../../schemas/event/row.ts'

/** Facts that the other product has of the visitor. They count where an event has no address or user agent. */
export interface KnownVisitor {
  /** ISO alpha-2. */
  readonly country?: string | undefined
  /** ISO 3166-2, with the country's code before it or without; or a name. */
  readonly region?: string | undefined
  readonly regionName?: string | undefined
  readonly city?: string | undefined
  readonly device?: keyof typeof devices | undefined
  /** Named as ingest names them. */
  readonly browser?: string | undefined
  readonly os?: string | undefined
}

export interface ImportedEvent {
  /** Fields of docs/tracking.md, not validated yet. */
  readonly event: Readonly<Record<string, unknown>>
  readonly visitor?: KnownVisitor
}

/** A line's events; or why it has none here; or why it can't be understood. */
export type Mapped = readonly ImportedEvent[] | { readonly leftOut: string } | { readonly refused: string }

/** An event of the line stands for itself, and where the visitor was may stand beside it: own format. */
export function fromOwnFormat(line: unknown): Mapped {
  if (!isRecord(line)) return { refused: 'the line is no JSON object' }
  const { country, region, city, ...event } = line
  const visitor = { country: textOf(country), region: textOf(region), city: textOf(city) }
  return [{ event, ...(visitor.country !== undefined && { visitor }) }]
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The value of a cell or property where it is a text that says something; NULL is written `\N` by some databases. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' && value !== '\\N' ? value : undefined
}

/** A text that the other product bounds otherwise, cut to our bound in code points. */
export function cut(text: string | undefined, max: number): string | undefined {
  return text === undefined || text.length <= max ? text : [...text].slice(0, max).join('')
}

/** A time of a database as RFC 3339: UTC where it has no offset, and minutes behind an offset of hours alone. */
export function withOffset(text: string): string {
  if (/[+-]\d\d$/.test(text.slice(10))) return `${text}:00`
  return /(?:Z|[+-]\d\d:?\d\d)$/i.test(text.slice(10)) ? text : `${text}Z`
}
