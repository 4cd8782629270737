import { describe, expect, test } from 'vitest'
import {
  validateBatch,
  validateBatchEvent,
  validateBots,
  validateBotVisit,
  validateTrack,
} from '../../schemas/event/event-validator.ts'

const tracking_key = 'svc_pk_000000000000000000000000'
const event = { tracking_key, event_name: 'pageview' }
/** `loc type` of each error, without the body: what most tests are about. */
const brief = (errors: ReturnType<typeof validateTrack>) =>
  errors?.map(({ loc, type }) => `${loc.slice(1).join('.')} ${type}`) ?? null

test('an event is taken with its required fields alone, with every field, with null for others, with unknown ones', () => {
  const texts = ['client_event_id', 'email', 'full_name', 'path', 'url', 'referrer', 'source', 'medium', 'campaign']
  const more = ['content', 'anonymous_id', 'session_id', 'title', 'language', 'timezone', 'user_agent', 'ip']
  const full = {
    ...Object.fromEntries([...texts, ...more].map((field) => [field, 'x'])),
    event_type: 'conversion',
    properties: { a: { b: [1, null, true, 'x'] } },
    screen_width: 1440,
    occurred_at: '2026-11-20T12:00:00Z',
    sent_at: '2026-11-20T12:00:00Z',
  }
  const empty = Object.fromEntries(Object.keys(full).map((field) => [field, null]))
  for (const body of [event, { ...full, ...event }, { ...empty, ...event }]) expect(validateTrack(body)).toBeNull()
  const odd = `{"tracking_key":"k","event_name":"constructor","x":{},"__proto__":1,"toString":2}`
  expect(validateTrack(JSON.parse(odd))).toBeNull()
})

describe('an event is refused', () => {
  test('without what is required, naming the body as it was sent', () => {
    const missing = (loc: string[], input: unknown) => ({ type: 'missing', loc, msg: 'Field required', input })
    const both = [missing(['body', 'tracking_key'], {}), missing(['body', 'event_name'], {})]
    expect(validateTrack({})).toEqual(both)
    for (const nothing of [undefined, null]) expect(validateTrack(nothing)).toEqual([missing(['body'], null)])
  })

  test.each([[[]], [[event]], ['text'], [1], [true]])('when it is no object: %j', (input) => {
    const msg = 'Input should be a valid dictionary or object to extract fields from'
    expect(validateTrack(input)).toEqual([{ type: 'model_attributes_type', loc: ['body'], msg, input }])
  })

  test('with revenue, which comes by trusted ways only', () => {
    const expected = "'track', 'identify' or 'conversion'"
    const wrong = { type: 'literal_error', loc: ['body', 'event_type'], msg: `Input should be ${expected}` }
    expect(validateTrack({ ...event, event_type: 'revenue' })).toEqual([
      { ...wrong, input: 'revenue', ctx: { expected } },
    ])
    const extra = { type: 'extra_forbidden', loc: ['body', 'value_cents'], msg: 'Extra inputs are not permitted' }
    for (const input of [100, '100', null])
      expect(validateTrack({ ...event, value_cents: input })).toEqual([{ ...extra, input }])
  })

  test.each([
    ['tracking_key', 1, 'string_type'],
    ['tracking_key', null, 'string_type'],
    ['event_name', null, 'string_type'],
    ['event_name', '', 'string_too_short'],
    ['event_type', 5, 'literal_error'],
    ['email', 5, 'string_type'],
    ['url', {}, 'string_type'],
    ['session_id', 2 ** 60, 'string_type'],
    ['properties', [], 'dict_type'],
    ['properties', '{}', 'dict_type'],
    ['screen_width', '1440', 'int_type'],
    ['screen_width', true, 'int_type'],
    ['screen_width', 1.5, 'int_from_float'],
    ['screen_width', -1, 'greater_than_equal'],
    ['screen_width', 65_536, 'less_than_equal'],
    ['screen_width', JSON.parse('1e400'), 'finite_number'],
    ['occurred_at', 1_700_000_000, 'datetime_type'],
    ['sent_at', {}, 'datetime_type'],
  ])('with the wrong type or value: %s %j', (field, value, type) => {
    expect(brief(validateTrack({ ...event, [field]: value }))).toEqual([`${field} ${type}`])
  })

  test('naming all faults, in the order of the fields, what is forbidden last, and nothing of an empty text', () => {
    const wrong = { value_cents: 1, ip: 1, sent_at: 'x', properties: 1, url: 1, event_name: '', event_type: 'x' }
    expect(brief(validateTrack({ ...wrong, title: 'ok', occurred_at: '' }))).toEqual([
      'tracking_key missing',
      'event_type literal_error',
      'event_name string_too_short',
      'url string_type',
      'properties dict_type',
      'sent_at datetime_from_date_parsing',
      'ip string_type',
      'value_cents extra_forbidden',
    ])
  })
})

describe('properties', () => {
  const check = (properties: object) => validateTrack({ ...event, properties })
  const nested = (levels: number): object => (levels === 1 ? { end: 1 } : { in: nested(levels - 1) })

  test('may have 100 keys and not 101', () => {
    const keys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`key${index}`, 1]))
    expect(check(keys(100))).toBeNull()
    const msg = 'Dictionary should have at most 100 items after validation, not 101'
    const ctx = { field_type: 'Dictionary', max_length: 100, actual_length: 101 }
    expect(check(keys(101))).toEqual([{ type: 'too_long', loc: ['body', 'properties'], msg, input: keys(101), ctx }])
  })

  test('may be nested 5 deep and not 6, lists included', () => {
    expect([check(nested(5)), check({ a: [[[[1]]]] })]).toEqual([null, null])
    expect(brief(check(nested(6)))).toEqual(['properties.in.in.in.in.in value_error'])
    expect(brief(check({ a: [[[[{}]]]] }))).toEqual(['properties.a.0.0.0.0 value_error'])
  })

  test.each(['x', 'é', '"', '\\', '\u0001', '😀'])(
    'may have 16 KB of JSON and not a byte more, whatever they hold: %j',
    (character) => {
      const bytes = (count: number) => Buffer.byteLength(JSON.stringify({ text: character.repeat(count), pad: '' }))
      const count = Math.floor((16_384 - bytes(0)) / (bytes(1) - bytes(0)))
      const pad = 'p'.repeat(16_384 - bytes(count))
      expect(check({ text: character.repeat(count), pad })).toBeNull()
      expect(brief(check({ text: character.repeat(count), pad: `${pad}p` }))).toEqual(['properties value_error'])
    },
  )

  test('hold no number that is infinite', () => {
    const at = { loc: ['body', 'properties', 'a', 1], msg: 'Input should be a finite number', input: 'Infinity' }
    expect(check(JSON.parse('{"a":[1,1e400]}'))).toEqual([{ type: 'finite_number', ...at }])
  })
})

test('a batch has an envelope of its own, which says nothing of its events', () => {
  for (const events of [[], [null, {}], Array(1000).fill(0)]) expect(validateBatch({ tracking_key, events })).toBeNull()
  expect(brief(validateBatch({ tracking_key, events: Array(1001).fill(0) }))).toEqual(['events too_long'])
  expect(brief(validateBatch({ events: {} }))).toEqual(['tracking_key missing', 'events list_type'])
  expect(brief(validateBatch({ tracking_key }))).toEqual(['events missing'])
  expect(brief(validateBatch({ tracking_key, events: [], value_cents: 5 }))).toEqual(['value_cents extra_forbidden'])
})

test.each([
  [{ event_name: 'a' }, null],
  [{ url: 1 }, ['events.3.event_name missing', 'events.3.url string_type']],
  [null, ['events.3 model_attributes_type']],
  [{ event_name: 'a', value_cents: 1 }, ['events.3.value_cents extra_forbidden']],
])('a batch names where in it an event is wrong: %j', (sent, expected) => {
  expect(brief(validateBatchEvent(sent, 3))).toEqual(expected)
})

test('bot visits come one at a time or as a list, and are checked one by one', () => {
  const visit = { url: 'https://example.com/', user_agent: 'Googlebot/2.1' }
  const one = { tracking_key, ...visit }
  const bodies = [one, { ...one, visits: null, method: null, status_code: 200, response_ms: 1.5 }]
  for (const body of [...bodies, { tracking_key, visits: [visit, {}] }]) expect(validateBots(body)).toBeNull()
  expect(brief(validateBots({ tracking_key, visits: Array(1001).fill(visit) }))).toEqual(['visits too_long'])
  expect(brief(validateBots({ tracking_key, visits: visit }))).toEqual(['visits list_type'])
  const missing = ['tracking_key missing', 'url missing', 'user_agent string_type']
  expect(brief(validateBots({ user_agent: 1 }))).toEqual(missing)
  expect(validateBotVisit(visit, 0)).toBeNull()
  expect(brief(validateBotVisit({ ...visit, status_code: 99, response_ms: -1, method: 'x'.repeat(17) }, 2))).toEqual([
    'visits.2.method string_too_long',
    'visits.2.status_code greater_than_equal',
    'visits.2.response_ms greater_than_equal',
  ])
})
