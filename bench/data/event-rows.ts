/** Rows as ingest makes them of the benches' events, without ingest. */
import { emptyEventRow } from '../../schemas/event/empty-row.ts'
import { eventTypes } from '../../schemas/event/event-fields.ts'
import { devices, type EventRow, eventColumns, kinds } from '../../schemas/event/row.ts'
import { rowBytesBound } from '../../schemas/event/row-codec.ts'
import { eventVariants, idsOf, numbersOf } from '../load/event-bodies.ts'

export function eventRow(count: number): EventRow {
  const { event } = eventVariants[count % eventVariants.length]!
  const text = (name: string) => String(event[name] ?? '')
  const ids = idsOf('00000000', numbersOf(count))
  const now = Date.now()
  return {
    ...emptyEventRow(),
    workspace_id: 1,
    occurred_at: now,
    received_at: now,
    event_type: eventTypes.track,
    kind: kinds.pageview,
    visitor: { hi: count % eventVariants.length, lo: 1 },
    session: count % eventVariants.length,
    session_named: 1,
    device: devices.desktop,
    event_name: text('event_name'),
    anonymous_id: ids.anonymous_id,
    client_event_id: ids.client_event_id,
    path: new URL(text('url')).pathname,
    url: text('url'),
    title: text('title'),
    referrer: text('referrer'),
    source: 'direct',
    medium: 'none',
    browser: 'Chrome',
    os: 'Windows',
    properties: JSON.stringify(event['properties']),
  }
}

/** About what one takes: the columns' bound counts three bytes a character. */
export const eventRowBytes = Math.ceil(rowBytesBound(eventColumns, eventRow(0)) / 3)
