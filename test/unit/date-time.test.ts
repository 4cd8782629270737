import { describe, expect, test } from 'vitest'
import { explainEventTime, parseDateTime, parseEventTime } from '../../schemas/time/date-time.ts'

const loc = ['body', 'occurred_at']

describe('an event time', () => {
  test.each([
    '2026-11-20T12:34:56.789Z',
    '2024-02-29T00:00:00.000Z',
    '1970-01-01T00:00:00.000Z',
    '2000-12-31T23:59:59.999Z',
    '0001-01-01T00:00:00.000Z',
    '1900-03-01T00:00:00.000Z',
    '9999-12-31T23:59:59.999Z',
  ])('is read as Date reads it: %s', (text) => {
    expect(parseEventTime(text, 'Europe/Berlin')).toBe(Date.parse(text))
  })

  test.each([
    ['2026-11-20T12:34:56Z', '2026-11-20T12:34:56.000Z'],
    ['2026-11-20 12:34:56z', '2026-11-20T12:34:56.000Z'],
    ['2026-11-20t12:34Z', '2026-11-20T12:34:00.000Z'],
    ['2026-11-20T12:34:56.7899999Z', '2026-11-20T12:34:56.789Z'],
    ['2026-11-20T12:34:56.7+05:30', '2026-11-20T07:04:56.700Z'],
    ['2026-11-20T12:34:56-0930', '2026-11-20T22:04:56.000Z'],
  ])('may be written in any form of RFC 3339: %s', (text, utc) => {
    expect(parseEventTime(text, 'UTC')).toBe(Date.parse(utc))
  })

  test('without an offset is local, and moves forward by the gap where there is no such time', () => {
    expect(parseEventTime('2026-07-01T12:00:00', 'Europe/Berlin')).toBe(Date.parse('2026-07-01T10:00:00Z'))
    expect(parseEventTime('2026-03-29T02:30:00', 'Europe/Berlin')).toBe(Date.parse('2026-03-29T01:30:00Z'))
  })

  test.each([
    ['2026-11-20', 'input is too short'],
    ['2026/11/20T00:00:00Z', 'invalid date separator, expected `-`'],
    ['2026-02-29T00:00:00.000Z', 'day value is outside expected range'],
    ['2026-11-20T24:00:00.000Z', 'unexpected extra characters at the end of the input'],
    ['2026-11-20T12:34:60.000Z', 'unexpected extra characters at the end of the input'],
    ['2026-11-20T12:3x:00.000Z', 'unexpected extra characters at the end of the input'],
    ['2026-11-20T12:34:56 01:00', 'unexpected extra characters at the end of the input'],
    ['2026-11-20T12:34:56+24:00', 'unexpected extra characters at the end of the input'],
  ])('that is none is refused: %j', (text, problem) => {
    expect(parseEventTime(text, 'UTC')).toBeNaN()
    expect(explainEventTime(loc, text)).toEqual({
      type: 'datetime_from_date_parsing',
      loc,
      msg: `Input should be a valid datetime or date, ${problem}`,
      input: text,
      ctx: { error: problem },
    })
  })

  test('of the year 0 is refused', () => {
    expect(parseEventTime('0000-01-01T00:00:00.000Z', 'UTC')).toBeNaN()
    expect(explainEventTime(loc, '0000-01-01T00:00:00.000Z')).toMatchObject({
      type: 'datetime_parsing',
      msg: 'Input should be a valid datetime, year 0 is out of range',
    })
  })

  test('is the same in its common form as in any other, on every day of four centuries', () => {
    for (let day = Date.UTC(1899, 11, 25); day < Date.UTC(2301, 0, 1); day += 86_400_000) {
      const text = new Date(day).toISOString()
      if (parseEventTime(text, 'UTC') !== day || parseEventTime(text.replace('.000Z', 'Z'), 'UTC') !== day) {
        expect.fail(text)
      }
    }
  })
})

test('a date alone is midnight of that day, and said to be a date', () => {
  expect(parseDateTime(loc, '2026-11-20')).toEqual({
    ok: true,
    value: { wallTime: Date.UTC(2026, 10, 20), offsetMs: null, isDate: true },
  })
  expect(parseDateTime(loc, '2026-11-20T01:00:00+01:00')).toEqual({
    ok: true,
    value: { wallTime: Date.UTC(2026, 10, 20, 1), offsetMs: 3_600_000, isDate: false },
  })
})
