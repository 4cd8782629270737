import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { parsePart } from '../../schemas/errors/zod-errors.ts'
import { momentOf, writtenTime } from '../../schemas/time/written-time.ts'

const schema = z.object({ at: writtenTime.nullable().optional() })
const loc = ['body', 'at']

/** The moment, or the error that is told. */
function read(at: unknown, timeZone = 'Europe/Berlin') {
  const parsed = parsePart('body', schema, { at })
  if (!parsed.ok) return parsed.errors[0]!
  if (!parsed.value.at) return parsed.value.at
  const time = momentOf(parsed.value.at, timeZone, loc)
  return 'moment' in time ? new Date(time.moment).toISOString() : time.error
}

describe('is read', () => {
  test.each<[unknown, string]>([
    ['2030-07-01T09:00:00Z', '2030-07-01T09:00:00.000Z'],
    ['2030-07-01t09:00:00.1234567z', '2030-07-01T09:00:00.123Z'],
    ['2030-07-01 09:00+02:00', '2030-07-01T07:00:00.000Z'],
    ['2030-07-01T09:00:00-0330', '2030-07-01T12:30:00.000Z'],
    // Without an offset: local, in summer and in winter.
    ['2030-07-01T09:00', '2030-07-01T07:00:00.000Z'],
    ['2030-01-01T09:00', '2030-01-01T08:00:00.000Z'],
    ['2030-07-01', '2030-06-30T22:00:00.000Z'],
    // The clocks skip this hour.
    ['2030-03-31T02:59:59', '2030-03-31T01:59:59.000Z'],
    // Unix time.
    [0, '1970-01-01T00:00:00.000Z'],
    [1.5, '1970-01-01T00:00:01.500Z'],
    [-1, '1969-12-31T23:59:59.000Z'],
    [20_000_000_000, '2603-10-11T11:33:20.000Z'],
    [20_000_000_001, '1970-08-20T11:33:20.001Z'],
    ['1900000000', '2030-03-17T17:46:40.000Z'],
    ['1900000000.25', '2030-03-17T17:46:40.250Z'],
    ['20300101', '1970-08-23T22:55:01.000Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
  ])('%j as %s', (at, moment) => {
    expect(read(at)).toBe(moment)
  })

  test('as null or not at all, where the schema says so', () => {
    expect([read(null), read(undefined)]).toEqual([null, undefined])
  })
})

describe('is refused', () => {
  test.each<[unknown, string, string?]>([
    [true, 'datetime_type'],
    [[], 'datetime_type'],
    [{}, 'datetime_type'],
    ['', 'datetime_from_date_parsing', 'input is too short'],
    ['not a date', 'datetime_from_date_parsing', 'invalid character in year'],
    ['2030-13-01', 'datetime_from_date_parsing', 'month value is outside expected range of 1-12'],
    ['0000-01-01', 'datetime_parsing', 'year 0 is out of range'],
    [1e300, 'datetime_parsing', 'dates after 9999 are not supported as unix timestamps'],
    [-1e300, 'datetime_parsing', 'dates before 0000 are not supported as unix timestamps'],
    ['9999-12-31T23:00:00-02:00', 'datetime_parsing', 'dates after 9999 are not supported as unix timestamps'],
    ['0001-01-01T00:00:00+00:01', 'datetime_parsing', 'dates before 0000 are not supported as unix timestamps'],
  ])('%j with %s %s', (at, type, error) => {
    expect(read(at)).toMatchObject({ type, loc, input: at, ...(error && { ctx: { error } }) })
  })

  test('where it must be there and is not', () => {
    const needed = z.object({ at: writtenTime })
    const errorOf = (body: object) => parsePart('body', needed, body)
    expect(errorOf({})).toEqual({ ok: false, errors: [{ type: 'missing', loc, msg: 'Field required', input: {} }] })
    expect(errorOf({ at: null })).toMatchObject({ errors: [{ type: 'datetime_type', input: null }] })
  })
})
