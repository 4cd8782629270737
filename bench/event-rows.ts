/** Rows as ingest makes them of the benches' events, without ingest. */
import { devices, type EventRow, eventColumns, eventTypes, kinds, noCountry, vitalMetrics } from '../schemas/row.ts'
import { rowBytesBound } from '../schemas/row-codec.ts'
import { eventVariants, idsOf, numbersOf } from './event-bodies.ts'

export function eventRow(count: number): EventRow {
  const { event } = eventVariants[count % eventVariants.length]!
  const text = (name: string) => String(event[name] ?? '')
  const ids = idsOf('00000000', numbersOf(count))
  const now = Date.now()
  return {
    id: 0,
    workspace_id: 1,
    occurred_at: now,
    received_at: now,
    event_type: eventTypes.track,
    kind: kinds.pageview,
    visitor: { hi: count % eventVariants.length, lo: 1 },
    session: count % eventVariants.length,
    session_named: 1,
    email_hash: { hi: 0, lo: 0 },
    device: devices.desktop,
    metric: vitalMetrics.none,
    metric_value: 0,
    engagement_ms: 0,
    scroll_depth: 0,
    screen_width: 0,
    link_id: 0,
    post_id: 0,
    country: noCountry,
    event_name: text('event_name'),
    anonymous_id: ids.anonymous_id,
    client_event_id: ids.client_event_id,
    path: new URL(text('url')).pathname,
    url: text('url'),
    title: text('title'),
    referrer: text('referrer'),
    source: 'direct',
    medium: 'none',
    campaign: '',
    content: '',
    browser: 'Chrome',
    os: 'Windows',
    language: '',
    timezone: '',
    properties: JSON.stringify(event['properties']),
  }
}

/** About what one takes: the columns' bound counts three bytes a character. */
export const eventRowBytes = Math.ceil(rowBytesBound(eventColumns, eventRow(0)) / 3)
