/** Events of recordings, in which nothing is as it should be: whoever sent one may have made it up. */
import { isObject } from '../../../schemas/json-object.ts'

type Fields = Readonly<Record<string, unknown>>

export interface RecordedEvent {
  readonly type: unknown
  /** By the visitor's clock, milliseconds since 1970. */
  readonly timestamp: number
  readonly data: Fields
}

/** rrweb's `EventType`, `IncrementalSource` and `MouseInteractions`. */
export const eventTypes = { fullSnapshot: 2, incremental: 3, meta: 4 } as const
export const sources = { mutation: 0, mouseInteraction: 2, scroll: 3, viewportResize: 4 } as const
export const click = 2

export function isEvent(event: unknown): event is RecordedEvent {
  return isObject(event) && isNumber(event['timestamp']) && isObject(event['data'])
}

export function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value)
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
