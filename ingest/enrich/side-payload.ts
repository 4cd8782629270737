import { identifierOf } from '../../schemas/event/identifiers.ts'
import { kinds } from '../../schemas/event/row.ts'
import type { SidePayload } from '../../schemas/event/side-payload.ts'
import type { Facts } from './facts.ts'

/**
 * The part of an identify or conversion event that goes to Postgres, apart from the row: contacts are made of it.
 * `event_id` is set when the row gets its id.
 */
export function sidePayloadOf({ event, email, row }: Facts): SidePayload | null {
  if (row.kind !== kinds.identify && row.kind !== kinds.conversion) return null
  return {
    event_id: 0,
    workspace_id: row.workspace_id,
    event_type: row.kind === kinds.identify ? 'identify' : 'conversion',
    event_name: row.event_name,
    email: email === '' ? null : email,
    anonymous_id: row.anonymous_id,
    full_name: identifierOf(event.full_name)?.trim() ?? '',
    properties: event.properties ?? {},
    source: row.source,
    medium: row.medium,
    campaign: row.campaign,
    content: row.content,
    occurred_at: row.occurred_at,
    received_at: row.received_at,
  }
}
