import { expect, test } from 'vitest'
import { bodySchemas } from '../../schemas/event/event-schemas.ts'
import {
  batchBodyBytesMax,
  batchEventsMax,
  botVisitsMax,
  eventAgeMaxMs,
  jsonDepthMax,
  jsonNumberDigitsMax,
  propertiesBytesMax,
  propertiesDepthMax,
  propertiesKeysMax,
  trackBodyBytesMax,
} from '../../schemas/limits/event-limits.ts'

/** The bounds of the tracking interface as its description states them, written here once more, by hand. */
test('the fields of an event have the bounds of the description, and there are no others', () => {
  const { tracking_key: _, ...bounds } = Object.fromEntries(
    Object.entries({ ...bodySchemas.sender.properties, ...bodySchemas.event.properties }).map(([name, schema]) => [
      name,
      schema.maxLength ?? null,
    ]),
  )
  const of = (length: number | null, ...names: string[]) => Object.fromEntries(names.map((name) => [name, length]))
  expect(bounds).toEqual({
    ...{ event_name: 120, full_name: 200, title: 500, language: 35, timezone: 64, user_agent: 1024, ip: 64 },
    ...of(254, 'client_event_id', 'email', 'source', 'medium', 'campaign', 'content', 'anonymous_id', 'session_id'),
    ...of(2048, 'path', 'url', 'referrer'),
    ...of(null, 'event_type', 'properties', 'occurred_at', 'sent_at', 'screen_width', 'value_cents'),
  })
  expect(bodySchemas.event.properties['event_name']?.minLength).toBe(1)
})

test('bodies, batches and properties have the bounds of the description', () => {
  expect([trackBodyBytesMax, batchBodyBytesMax, batchEventsMax, botVisitsMax]).toEqual([65_536, 1_048_576, 1000, 1000])
  expect([propertiesBytesMax, propertiesKeysMax, propertiesDepthMax]).toEqual([16_384, 100, 5])
  expect([jsonDepthMax, jsonNumberDigitsMax, eventAgeMaxMs]).toEqual([64, 400, 72 * 3_600_000])
})
