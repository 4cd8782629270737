/** Events as the API and webhooks show them. */
import type { Event } from '../../schemas/resources/overview.ts'
import type { RecentEvent } from './overview/read-recent-events.ts'

/** @param contacts whose the events are, by id; an event of nobody known is not there */
export function serializeEvents(events: readonly RecentEvent[], contacts: ReadonlyMap<number, number>): Event[] {
  return events.map(({ session, email_hash: _, properties, occurred_at_ms, received_at_ms, ...event }) => ({
    ...event,
    object_id: `event_${event.id}`,
    contact_id: contacts.get(event.id) ?? null,
    session_id: session,
    currency: '',
    value_cents: 0,
    properties: readProperties(properties),
    occurred_at: new Date(occurred_at_ms).toISOString(),
    created_at: new Date(received_at_ms).toISOString(),
  }))
}

/** Stored as the text of an object; an event without any has an empty text. */
function readProperties(text: string): Record<string, unknown> {
  return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>)
}
