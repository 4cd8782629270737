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
const withField = (field: string, value: unknown) => ({ ...event, [field]: value })
/** `loc type` of each error: what most tests are about. */
const brief = (errors: ReturnType<typeof validateTrack>) =>
  errors?.map(({ loc, type }) => `${loc.join('.')} ${type}`) ?? null

describe('an event is taken', () => {
  test('with its required fields alone', () => {
    expect(validateTrack(event)).toBeNull()
  })

  test('with every field', () => {
    const full = {
      ...event,
      event_type: 'conversion',
      client_event_id: 'c-1',
      email: 'ada@example.com',
      full_name: 'Ada',
      path: '/',
      url: 'https://example.com/',
      referrer: '',
      source: 's',
      medium: 'm',
      campaign: 'c',
      content: 'c',
      properties: { a: { b: [1, null, true, 'x'] } },
      anonymous_id: 'a',
      session_id: 's',
      title: 't',
      occurred_at: '2026-11-20T12:00:00Z',
      sent_at: '2026-11-20T12:00:00Z',
      screen_width: 1440,
      language: 'en',
      timezone: 'Europe/Berlin',
      user_agent: 'x',
      ip: '192.0.2.1',
    }
    expect(validateTrack(full)).toBeNull()
    const empty = Object.fromEntries(Object.keys(full).map((field) => [field, null]))
    expect(validateTrack({ ...empty, ...event })).toBeNull()
  })

  test('with fields that nobody knows, prototypes among them', () => {
    expect(
      validateTrack(JSON.parse(`{"tracking_key":"k","event_name":"constructor","x":{},"__proto__":1,"toString":2}`)),
    ).toBeNull()
  })
})

describe('an event is refused', () => {
  test('without what is required, naming the body as it was sent', () => {
    expect(validateTrack({})).toEqual([
      { type: 'missing', loc: ['body', 'tracking_key'], msg: 'Field required', input: {} },
      { type: 'missing', loc: ['body', 'event_name'], msg: 'Field required', input: {} },
    ])
    expect(validateTrack(undefined)).toEqual([{ type: 'missing', loc: ['body'], msg: 'Field required', input: null }])
    expect(validateTrack(null)).toEqual([{ type: 'missing', loc: ['body'], msg: 'Field required', input: null }])
  })

  test.each([[[]], [[event]], ['text'], [1], [true]])('when it is no object: %j', (body) => {
    expect(validateTrack(body)).toEqual([
      {
        type: 'model_attributes_type',
        loc: ['body'],
        msg: 'Input should be a valid dictionary or object to extract fields from',
        input: body,
      },
    ])
  })

  test('with revenue, which comes by trusted ways only', () => {
    expect(validateTrack(withField('event_type', 'revenue'))).toEqual([
      {
        type: 'literal_error',
        loc: ['body', 'event_type'],
        msg: "Input should be 'track', 'identify' or 'conversion'",
        input: 'revenue',
        ctx: { expected: "'track', 'identify' or 'conversion'" },
      },
    ])
    for (const cents of [100, '100', null]) {
      expect(validateTrack(withField('value_cents', cents))).toEqual([
        { type: 'extra_forbidden', loc: ['body', 'value_cents'], msg: 'Extra inputs are not permitted', input: cents },
      ])
    }
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
    expect(brief(validateTrack(withField(field, value)))).toEqual([`body.${field} ${type}`])
  })

  test('without a word of an empty text, which counts as not sent', () => {
    expect(brief(validateTrack({ tracking_key: 'k', occurred_at: '', sent_at: '' }))).toEqual([
      'body.event_name missing',
    ])
  })

  test('naming all faults, in the order of the fields, what is forbidden last', () => {
    const body = {
      value_cents: 1,
      ip: 1,
      sent_at: 'x',
      properties: 1,
      url: 1,
      event_name: '',
      event_type: 'x',
      title: 'ok',
    }
    expect(brief(validateTrack(body))).toEqual([
      'body.tracking_key missing',
      'body.event_type literal_error',
      'body.event_name string_too_short',
      'body.url string_type',
      'body.properties dict_type',
      'body.sent_at datetime_from_date_parsing',
      'body.ip string_type',
      'body.value_cents extra_forbidden',
    ])
  })
})

describe('properties', () => {
  const check = (properties: object) => validateTrack({ ...event, properties })
  const nested = (levels: number): object => (levels === 1 ? { end: 1 } : { in: nested(levels - 1) })

  test('may have 100 keys and not 101', () => {
    const keys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`key${index}`, 1]))
    expect(check(keys(100))).toBeNull()
    expect(check(keys(101))).toEqual([
      {
        type: 'too_long',
        loc: ['body', 'properties'],
        msg: 'Dictionary should have at most 100 items after validation, not 101',
        input: keys(101),
        ctx: { field_type: 'Dictionary', max_length: 100, actual_length: 101 },
      },
    ])
  })

  test('may be nested 5 deep and not 6, lists included', () => {
    expect(check(nested(5))).toBeNull()
    expect(check({ a: [[[[1]]]] })).toBeNull()
    expect(brief(check(nested(6)))).toEqual(['body.properties.in.in.in.in.in value_error'])
    expect(brief(check({ a: [[[[{}]]]] }))).toEqual(['body.properties.a.0.0.0.0 value_error'])
  })

  test.each([
    ['x', 'é'],
    ['"', '\\'],
    ['\u0001', '😀'],
  ])('may have 16 KB of JSON and not a byte more, whatever they hold: %j', (...characters) => {
    for (const character of characters) {
      const bytes = (count: number) => Buffer.byteLength(JSON.stringify({ text: character.repeat(count), pad: '' }))
      const count = Math.floor((16_384 - bytes(0)) / (bytes(1) - bytes(0)))
      const pad = 'p'.repeat(16_384 - bytes(count))
      expect(check({ text: character.repeat(count), pad })).toBeNull()
      expect(brief(check({ text: character.repeat(count), pad: `${pad}p` }))).toEqual(['body.properties value_error'])
    }
  })

  test('hold no number that is infinite', () => {
    const properties = JSON.parse('{"a":[1,1e400]}')
    expect(check(properties)).toEqual([
      {
        type: 'finite_number',
        loc: ['body', 'properties', 'a', 1],
        msg: 'Input should be a finite number',
        input: 'Infinity',
      },
    ])
  })
})

describe('a batch', () => {
  test('has an envelope of its own, which says nothing of its events', () => {
    expect(validateBatch({ tracking_key, events: [] })).toBeNull()
    expect(validateBatch({ tracking_key, events: [null, {}] })).toBeNull()
    expect(validateBatch({ tracking_key, events: Array(1000).fill(0) })).toBeNull()
    expect(brief(validateBatch({ tracking_key, events: Array(1001).fill(0) }))).toEqual(['body.events too_long'])
    expect(brief(validateBatch({ events: {} }))).toEqual(['body.tracking_key missing', 'body.events list_type'])
    expect(brief(validateBatch({ tracking_key }))).toEqual(['body.events missing'])
  })

  test('names where in it an event is wrong', () => {
    expect(validateBatchEvent({ event_name: 'a' }, 3)).toBeNull()
    expect(brief(validateBatchEvent({ url: 1 }, 3))).toEqual([
      'body.events.3.event_name missing',
      'body.events.3.url string_type',
    ])
    expect(brief(validateBatchEvent(null, 0))).toEqual(['body.events.0 model_attributes_type'])
    expect(brief(validateBatchEvent({ event_name: 'a', value_cents: 1 }, 0))).toEqual([
      'body.events.0.value_cents extra_forbidden',
    ])
  })
})

describe('bot visits', () => {
  const visit = { url: 'https://example.com/', user_agent: 'Googlebot/2.1' }

  test('come one at a time or as a list', () => {
    expect(validateBots({ tracking_key, ...visit })).toBeNull()
    expect(
      validateBots({ tracking_key, ...visit, visits: null, method: null, status_code: 200, response_ms: 1.5 }),
    ).toBeNull()
    expect(validateBots({ tracking_key, visits: [visit, {}] })).toBeNull()
    expect(brief(validateBots({ tracking_key, visits: Array(1001).fill(visit) }))).toEqual(['body.visits too_long'])
    expect(brief(validateBots({ tracking_key, visits: visit }))).toEqual(['body.visits list_type'])
    expect(brief(validateBots({ user_agent: 1 }))).toEqual([
      'body.tracking_key missing',
      'body.url missing',
      'body.user_agent string_type',
    ])
  })

  test('are checked one by one', () => {
    expect(validateBotVisit(visit, 0)).toBeNull()
    expect(brief(validateBotVisit({ ...visit, status_code: 99, response_ms: -1, method: 'x'.repeat(17) }, 2))).toEqual([
      'body.visits.2.method string_too_long',
      'body.visits.2.status_code greater_than_equal',
      'body.visits.2.response_ms greater_than_equal',
    ])
  })
})
