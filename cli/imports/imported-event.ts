/** The events of a line of a file, as tracking events. */
import type { devices } from '../../schemas/event/row.ts'
import { screenWidthMax } from '../../schemas/limits/event-limits.ts'

/** Facts that the file has of the visitor. They count where an event has no address or user agent. */
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
  /** It has neither visitor nor session, though it may name no e-mail. */
  readonly isServerEvent?: boolean
}

/** Why nothing is taken: it has no place here, or it can't be understood. */
export type NotTaken = { readonly leftOut: string } | { readonly refused: string }

/** A line's events, with a reason in place of each part that isn't taken; or one reason for the whole line. */
export type Mapped = readonly (ImportedEvent | NotTaken)[] | NotTaken

/** The value of a cell or property where it is a text that says something; NULL is written `\N` by some databases. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' && value !== '\\N' ? value : undefined
}

/** The text, or the number as a text. */
export function nameOf(value: unknown): string | undefined {
  return typeof value === 'number' ? String(value) : textOf(value)
}

/** The number, or the one that the text is. */
export function numberOf(value: unknown): number | undefined {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined
}

/** The fields that there are. */
export function withoutUndefined(
  fields: Readonly<Record<string, string | number | undefined>>,
): Record<string, string | number> {
  return Object.fromEntries(
    Object.entries(fields).filter((entry): entry is [string, string | number] => entry[1] !== undefined),
  )
}

/** The first number in `1920x1080`. */
export function widthOf(screen: string | undefined): number | undefined {
  const width = Number(/^(\d{1,5})x\d+$/.exec(screen ?? '')?.[1])
  return width <= screenWidthMax ? width : undefined
}

/** A text that the other product bounds otherwise, cut to our bound in code points. */
export function cut(text: string | undefined, max: number): string | undefined {
  return text === undefined || text.length <= max ? text : [...text].slice(0, max).join('')
}

/**
 * Completes a database's time to RFC 3339: adds `Z` if it has no offset, and `:00` if the offset has hours only. BigQuery
 * writes `2024-03-09 10:00:00 UTC`.
 */
export function withOffset(text: string): string {
  if (text.endsWith(' UTC')) return `${text.slice(0, -4)}Z`
  if (/[+-]\d\d$/.test(text.slice(10))) return `${text}:00`
  return /(?:Z|[+-]\d\d:?\d\d)$/i.test(text.slice(10)) ? text : `${text}Z`
}
