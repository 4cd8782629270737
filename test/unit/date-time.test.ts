import { describe, expect, test } from 'vitest'
import { explainEventTime, parseDateTime, parseEventTime } from '../../schemas/time/date-time.ts'

const loc = ['body', 'occurred_at']

describe('an event time', () => {
  test.each([
    // As Date reads it, and in any form of RFC 3339.
    ...['2026-11-20T12:34:56.789Z', '2024-02-29T00:00:00.000Z', '1970-01-01T00:00:00.000Z'].map((text) => [text]),
    ...['0001-01-01T00:00:00.000Z', '1900-03-01T00:00:00.000Z', '9999-12-31T23:59:59.999Z'].map((text) => [text]),
    ['2026-11-20T12:34:56Z', '2026-11-20T12:34:56.000Z'],
    ['2026-11-20 12:34:56z', '2026-11-20T12:34:56.000Z'],
    ['2026-11-20t12:34Z', '2026-11-20T12:34:00.000Z'],
    ['2026-11-20_12:34:56,5Z', '2026-11-20T12:34:56.500Z'],
    ['2026-11-20T12:34:56.7899999Z', '2026-11-20T12:34:56.789Z'],
    ['2026-11-20T12:34:56.7+05:30', '2026-11-20T07:04:56.700Z'],
    ['2026-11-20T12:34:56-0930', '2026-11-20T22:04:56.000Z'],
    ['2026-11-20T12:34:56\u22120930', '2026-11-20T22:04:56.000Z'],
    // Without an offset it is local, and moves forward by the gap where there is no such time.
    ['2026-07-01T12:00:00', '2026-07-01T10:00:00Z'],
    ['2026-03-29T02:30:00', '2026-03-29T01:30:00Z'],
  ])('is read: %s', (text, utc = text) => {
    expect(parseEventTime(text!, 'Europe/Berlin')).toBe(Date.parse(utc))
  })

  test.each([
    ['2026-11-20', 'input is too short'],
    ['2026/11/20T00:00:00Z', 'invalid date separator, expected `-`'],
    ['2026-02-29T00:00:00.000Z', 'day value is outside expected range'],
    ...['24:00:00.000Z', '12:34:60.000Z', '12:3x:00.000Z', '12:34:56 01:00', '12:34:56+24:00'].map((time) => [
      `2026-11-20T${time}`,
      'unexpected extra characters at the end of the input',
    ]),
  ])('that is none is refused: %j', (text, problem) => {
    expect(parseEventTime(text!, 'UTC')).toBeNaN()
    const msg = `Input should be a valid datetime or date, ${problem}`
    const error = { type: 'datetime_from_date_parsing', loc, msg, input: text, ctx: { error: problem } }
    expect(explainEventTime(loc, text!)).toEqual(error)
  })

  test('of the year 0 is refused', () => {
    expect(parseEventTime('0000-01-01T00:00:00.000Z', 'UTC')).toBeNaN()
    expect(explainEventTime(loc, '0000-01-01T00:00:00.000Z')).toMatchObject({
      type: 'datetime_parsing',
      msg: 'Input should be a valid datetime, year 0 is out of range',
    })
  })

  test('is the same in its common form as in any other, on every day of four centuries', () => {
    const others: string[] = []
    for (let day = Date.UTC(1899, 11, 25); day < Date.UTC(2301, 0, 1); day += 86_400_000) {
      const text = new Date(day).toISOString()
      const forms = [text, text.replace('.000Z', 'Z')]
      others.push(...forms.filter((form) => parseEventTime(form, 'UTC') !== day))
    }
    expect(others).toEqual([])
  })
})

test.each([
  ['2026-11-20', { wallTime: Date.UTC(2026, 10, 20), offsetMs: null, isDate: true }],
  ['2026-11-20T01:00:00+01:00', { wallTime: Date.UTC(2026, 10, 20, 1), offsetMs: 3_600_000, isDate: false }],
])('a date alone is midnight of that day, and said to be a date: %s', (text, value) => {
  expect(parseDateTime(loc, text)).toEqual({ ok: true, value })
})
