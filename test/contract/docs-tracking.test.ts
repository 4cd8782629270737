import { expect, test } from 'vitest'
import { trackingRefusals } from '../../ingest/http/tracking-refusals.ts'
import { requestIdLengthMax } from '../../runtime/http/request-id.ts'
import { unparsedRefusals } from '../../runtime/http/unparsed.ts'
import { dateTimeFields, type FieldSchema } from '../../schemas/event/event-fields.ts'
import { type BodySchema, bodySchemas } from '../../schemas/event/event-schemas.ts'
import { botCategories } from '../../schemas/event/row.ts'
import * as limits from '../../schemas/limits/event-limits.ts'
import { saltKeepMs } from '../../schemas/limits/ingest-limits.ts'
import { readDoc, tableOf } from '../support/docs.ts'

const page = readDoc('docs/tracking.md')
const thousands = (number: number) => number.toLocaleString('en-US')

/** The cells of a field's row that follow from its schema: name, type, bounds. */
function cellsOf(name: string, schema: FieldSchema, isRequired: boolean): string[] {
  return [`\`${name}\``, typeOf(name, schema) + (isRequired ? ', required' : ''), boundsOf(name, schema)]
}

function typeOf(name: string, { type, enum: values, not }: FieldSchema): string {
  if (not) return 'any'
  if (values) {
    const shown = values.filter(Boolean).map((value) => `\`${value}\``)
    return `${shown.slice(0, -1).join(', ')} or ${shown.at(-1)}`
  }
  if (dateTimeFields.includes(name)) return 'date-time'
  const plain = Array.isArray(type) ? type[0] : type
  return plain === 'string' ? 'text' : String(plain)
}

function boundsOf(name: string, schema: FieldSchema): string {
  if (schema.not) return 'refused'
  if (name === 'properties') {
    const { propertiesBytesMax, propertiesKeysMax, propertiesDepthMax } = limits
    return `≤ ${thousands(propertiesBytesMax)} bytes of JSON, ≤ ${propertiesKeysMax} keys, ≤ ${propertiesDepthMax} levels`
  }
  const { minLength, maxLength, minimum, maximum } = schema
  if (maximum !== undefined) return `${minimum}–${maximum}`
  if (maxLength === undefined) return ''
  return minLength === undefined ? `≤ ${maxLength}` : `${minLength}–${maxLength}`
}

function expectedFields(...schemas: BodySchema[]): string[][] {
  return schemas.flatMap(({ properties, required }) =>
    Object.entries(properties).map(([name, schema]) => cellsOf(name, schema, required.includes(name))),
  )
}

const firstThree = (rows: string[][]) => rows.map((row) => row.slice(0, 3))

test('the table of an event has every field that is taken, in order, with its type and bounds', () => {
  const table = tableOf(page, '## Fields of an event')
  expect(firstThree(table)).toEqual(expectedFields(bodySchemas.sender, bodySchemas.event))
})

test('the table of a crawler’s visit has every field that is taken, in order, with its type and bounds', () => {
  const table = tableOf(page.slice(page.indexOf('\n## Crawlers\n')), '## Crawlers')
  expect(firstThree(table)).toEqual(expectedFields(bodySchemas.sender, bodySchemas.visit))
})

test('every category of crawlers is named', () => {
  for (const category of Object.keys(botCategories)) expect(page).toContain(`\`${category}\``)
})

test.each([
  [`up to ${thousands(limits.batchEventsMax)} events`],
  [`takes up to ${thousands(limits.botVisitsMax)}`],
  [
    `over ${limits.trackBodyBytesMax / 1024} KiB, a batch or crawler visits over ${limits.batchBodyBytesMax / 2 ** 20} MiB`,
  ],
  [`nested deeper than ${limits.jsonDepthMax}, a number of more than ${limits.jsonNumberDigitsMax} digits`],
  [`not whole within ${limits.bodyDeadlineMs / 1000} s of its first bytes`],
  [`Older than ${limits.eventAgeMaxMs / 3_600_000} hours is refused`],
  [`A difference of more than ${limits.clockSkewMaxMs / 3_600_000} hours isn't believed`],
  [`deleted ${saltKeepMs / 3_600_000} hours after the day began`],
  [`1–${requestIdLengthMax} of letters`],
])('the page says "%s", as the bounds do', (text) => {
  expect(page.replaceAll('\n', ' ').replaceAll('  ', ' ')).toContain(text)
})

test('the answers are those of the list, each with its status, and no others', () => {
  const shown = tableOf(page, '## Answers').flatMap(([status, detail]) => {
    const texts = [...detail!.matchAll(/`([^`]+)`/g)].map(([, text]) => text!)
    const statuses = status!.split(', ')
    return texts.map((text, at) => `${statuses[at] ?? statuses[0]} ${text}`)
  })
  expect(shown.sort()).toEqual(
    // The front of `npm start` has one of its own.
    [...Object.values(trackingRefusals), unparsedRefusals.headTooLarge]
      .map(({ status, detail }) => `${status} ${detail}`)
      .sort(),
  )
  // Without a text of their own.
  const plain = tableOf(page, '## Answers').filter(([, detail]) => !detail!.includes('`'))
  expect(plain.map(([status]) => status)).toEqual(['200', '202', '307', '422'])
})

/** The bounds of the tracking interface as its description states them, written here once more, by hand. */
test('the fields of an event have the bounds of the description, and there are no others', () => {
  const { tracking_key: _, ...bounds } = Object.fromEntries(
    Object.entries({ ...bodySchemas.sender.properties, ...bodySchemas.event.properties }).map(([name, schema]) => [
      name,
      schema.maxLength ?? null,
    ]),
  )
  const most = (length: number | null, ...names: string[]) => Object.fromEntries(names.map((name) => [name, length]))
  expect(bounds).toEqual({
    event_name: 120,
    full_name: 200,
    title: 500,
    language: 64,
    timezone: 64,
    user_agent: 1024,
    ip: 64,
    ...most(254, 'client_event_id', 'email', 'source', 'medium', 'campaign', 'content', 'anonymous_id', 'session_id'),
    ...most(2048, 'path', 'url', 'referrer'),
    ...most(null, 'event_type', 'properties', 'occurred_at', 'sent_at', 'screen_width', 'value_cents'),
  })
  expect(bodySchemas.event.properties['event_name']?.minLength).toBe(1)
})

test('bodies, batches and properties have the bounds of the description', () => {
  expect([limits.trackBodyBytesMax, limits.batchBodyBytesMax, limits.batchEventsMax, limits.botVisitsMax]).toEqual([
    65_536, 1_048_576, 1000, 1000,
  ])
  expect([limits.propertiesBytesMax, limits.propertiesKeysMax, limits.propertiesDepthMax]).toEqual([16_384, 100, 5])
  expect([limits.jsonDepthMax, limits.jsonNumberDigitsMax, limits.eventAgeMaxMs]).toEqual([64, 400, 72 * 3_600_000])
})
