import { emptyEventRow } from '../../schemas/event/empty-row.ts'
import type { TrackEvent } from '../../schemas/event/event.ts'
import { copiedFields, type EventType, eventTypes } from '../../schemas/event/event-fields.ts'
import { identifierOf } from '../../schemas/event/identifiers.ts'
import { kindByEventName, kinds } from '../../schemas/event/row.ts'
import type { Facts, Verdict } from './facts.ts'

type Writable = Record<(typeof copiedFields)[number], string | number>
const empty = emptyEventRow()
/** Maps: a name of the sender's, such as `constructor`, must not meet an object's own. */
const typeNumbers: ReadonlyMap<string, number> = new Map(Object.entries(eventTypes))
const kindNumbers: ReadonlyMap<string, number> = new Map(Object.entries(kindByEventName))

/** Takes workspace, type and kind, and the fields that are stored as they were sent. */
export function copyFields({ event, workspace, row }: Facts): Verdict {
  row.workspace_id = workspace.id
  row.event_type = typeNumbers.get(typeOf(event))!
  row.kind = kindOf(event)
  copySent(row, event)
  return undefined
}

/** One of `kinds`. */
export function kindOf(event: TrackEvent): number {
  const type = typeOf(event)
  if (type === 'conversion') return kinds.conversion
  if (type === 'identify') return kinds.identify
  return kindNumbers.get(event.event_name) ?? kinds.custom
}

function typeOf({ event_type }: TrackEvent): EventType {
  return event_type || 'track'
}

/** A loop costs no more than a line for each field: both were measured. */
function copySent(row: Writable, event: TrackEvent): void {
  for (const name of copiedFields) row[name] = event[name] ?? empty[name]
  row.client_event_id = identifierOf(event.client_event_id) ?? ''
}
