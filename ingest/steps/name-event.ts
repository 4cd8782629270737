import type { TrackEvent } from '../../schemas/event.ts'
import { type EventType, eventTypes, kindByEventName, kinds } from '../../schemas/row.ts'
import type { Facts, Verdict } from './facts.ts'

/** Maps: a name of the sender's, such as `constructor`, must not meet an object's own. */
const typeNumbers: ReadonlyMap<string, number> = new Map(Object.entries(eventTypes))
const kindNumbers: ReadonlyMap<string, number> = new Map(Object.entries(kindByEventName))

/** Type, kind and what else is taken as it was sent. */
export function nameEvent({ event, workspace, row }: Facts): Verdict {
  const type: EventType = event.event_type ?? 'track'
  row.workspace_id = workspace.id
  row.event_type = typeNumbers.get(type)!
  row.kind = kindOf(type, event)
  row.event_name = event.event_name
  row.client_event_id = event.client_event_id ?? ''
  row.title = event.title ?? ''
  row.language = event.language ?? ''
  row.timezone = event.timezone ?? ''
  row.screen_width = event.screen_width ?? 0
  return undefined
}

function kindOf(type: EventType, { event_name: name }: TrackEvent): number {
  if (type === 'conversion') return kinds.conversion
  if (type === 'identify') return kinds.identify
  return kindNumbers.get(name) ?? kinds.custom
}
