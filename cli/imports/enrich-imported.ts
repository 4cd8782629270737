/** Validates and enriches an event of a file with ingest's own code, at the time when it happened. */
import { nowhere, type Place } from '../../ingest/enrich/countries.ts'
import type { Enricher } from '../../ingest/enrich/enrich.ts'
import type { Enriched, IngestWorkspace } from '../../ingest/event-context.ts'
import type { TrackEvent } from '../../schemas/event/event.ts'
import { validateBatchEvent } from '../../schemas/event/event-validator.ts'
import { devices, type EventRow } from '../../schemas/event/row.ts'
import { findUnstorableText } from '../../schemas/json-text.ts'
import { importedFromMs } from '../../schemas/limits/event-limits.ts'
import { isCountryCode } from '../../schemas/reference/country-zones.ts'
import { areaOf } from '../../schemas/reference/places.ts'
import { explainEventTime, parseEventTime } from '../../schemas/time/date-time.ts'
import type { ImportedEvent, KnownVisitor } from './imported-event.ts'

interface Read {
  readonly enriched: Exclude<Enriched, { stream: 'rejected' }>
  /** Milliseconds since 1970 UTC. */
  readonly occurredAt: number
}

/** @param imported with its `client_event_id` */
export function enrichImported(
  enricher: Enricher,
  imported: ImportedEvent,
  workspace: IngestWorkspace,
  now: number,
): Read | { readonly refused: string } {
  const event = imported.event as unknown as TrackEvent
  const read = readTime(event, workspace.timezone, now)
  if (typeof read === 'string') return { refused: read }
  const { occurredAt } = read
  const sender = { address: '', userAgent: '', ...placeOf(imported.visitor), receivedAt: occurredAt }
  // Received when it happened. The clock that `sent_at` would correct has been forgotten.
  const enriched = enricher.enrich({ ...event, occurred_at: null, sent_at: null }, sender, workspace)
  if (enriched.stream === 'rejected') return { refused: reasonOf(enriched.detail) }
  if (enriched.stream === 'events') putKnown(enriched.row, imported)
  return { enriched, occurredAt }
}

/** Puts into the row what the file knows beside the event's own fields. */
function putKnown(row: EventRow, { visitor = {}, isServerEvent = false }: ImportedEvent): void {
  if (row.device === devices.unknown && visitor.device !== undefined) row.device = devices[visitor.device]
  row.browser ||= visitor.browser ?? ''
  row.os ||= visitor.os ?? ''
  if (!isServerEvent) return
  row.visitor.hi = 0
  row.visitor.lo = 0
  row.session = 0
  row.session_named = 0
}

/** The time of a valid event, or why it is refused. */
function readTime(event: TrackEvent, timezone: string, now: number): { occurredAt: number } | string {
  const faults = validateBatchEvent(event, 0, findUnstorableText([], event).length > 0)
  if (faults !== null) return reasonOf(faults)
  if (!event.occurred_at) return 'occurred_at: Field required'
  const occurredAt = parseEventTime(event.occurred_at, timezone)
  if (Number.isNaN(occurredAt)) return reasonOf([explainEventTime(['occurred_at'], event.occurred_at)!])
  if (occurredAt > now) return 'occurred_at: later than now'
  if (occurredAt < importedFromMs) return `occurred_at: before ${new Date(importedFromMs).getUTCFullYear()}`
  return { occurredAt }
}

/** The first fault, by the name of its field. */
function reasonOf([fault]: readonly { readonly loc: readonly (string | number)[]; readonly msg: string }[]): string {
  const { loc, msg } = fault!
  const field = loc.find((part) => typeof part === 'string' && part !== 'body' && part !== 'events')
  return `${field ?? 'the event'}: ${msg}`
}

function placeOf(visitor: KnownVisitor | undefined): Place {
  const country = visitor?.country?.toUpperCase() ?? ''
  return isCountryCode(country) ? { country, area: areaOf(country, visitor!) } : nowhere
}
