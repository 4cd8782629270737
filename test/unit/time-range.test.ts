import { describe, expect, it } from 'vitest'
import { bucketsOf, type RangeQuery, resolveTimeRange, type TimeRange } from '../../schemas/time/time-range.ts'

const now = Date.parse('2026-11-20T14:25:30.500Z')
const iso = (ms: number) => new Date(ms).toISOString()

function range(query: Partial<RangeQuery>, timeZone = 'UTC', at = now): TimeRange {
  const resolved = resolveTimeRange({ days: 30, ...query }, timeZone, at)
  if (!resolved.ok) throw new Error(JSON.stringify(resolved.errors))
  return resolved.range
}

function edges(query: Partial<RangeQuery>, timeZone = 'UTC', at = now): [string, string] {
  const { start, end } = range(query, timeZone, at)
  return [iso(start), iso(end)]
}

function errors(query: Partial<RangeQuery>, timeZone = 'UTC'): unknown {
  const resolved = resolveTimeRange({ days: 30, ...query }, timeZone, now)
  return resolved.ok ? [] : resolved.errors
}

function labels(query: Partial<RangeQuery>, timeZone = 'UTC'): string[] {
  return bucketsOf(range(query, timeZone)).map((bucket) => bucket.label)
}

it('a range reaches to the present without an end', () => {
  const reaching = [{ days: 7 }, { hours: 3 }, { start: '2026-11-19' }]
  const ending = [{ end: '2026-11-19' }, { end: iso(now) }, { start: '2026-11-01', end: '2026-11-20' }]
  expect(reaching.map((query) => range(query).endsNow)).toEqual([true, true, true])
  expect(ending.map((query) => range(query).endsNow)).toEqual([false, false, false])
})

describe('a range that is refused', () => {
  it('names start when it isn’t before end', () => {
    const text = 'start must be before end'
    const error = { type: 'value_error', loc: ['query', 'start'], msg: `Value error, ${text}`, ctx: { error: {} } }
    expect(errors({ start: '2026-11-20', end: '2026-11-19' })).toEqual([{ ...error, input: '2026-11-20' }])
    expect(errors({ start: '2026-11-20T10:00Z', end: '2026-11-20T10:00Z' })).toEqual([
      { ...error, input: '2026-11-20T10:00Z' },
    ])
    expect(errors({ start: '2027-01-01' })).toEqual([{ ...error, input: '2027-01-01' }])
  })

  it('names start when it is longer than 366 local days, and takes just as many', () => {
    expect(errors({ start: '2025-10-26', end: '2026-10-26' }, 'Europe/Berlin')).toEqual([])
    expect(errors({ start: '2025-10-26', end: '2026-10-27' }, 'Europe/Berlin')).toMatchObject([
      { type: 'value_error', loc: ['query', 'start'], input: '2025-10-26' },
    ])
    expect(errors({ start: '2020-01-01' })).toMatchObject([{ type: 'value_error', loc: ['query', 'start'] }])
  })

  it('names each parameter that is no date', () => {
    expect(errors({ start: 'yesterday', end: '2026-13-01' })).toEqual([
      {
        type: 'datetime_from_date_parsing',
        loc: ['query', 'start'],
        msg: 'Input should be a valid datetime or date, input is too short',
        input: 'yesterday',
        ctx: { error: 'input is too short' },
      },
      {
        type: 'datetime_from_date_parsing',
        loc: ['query', 'end'],
        msg: 'Input should be a valid datetime or date, month value is outside expected range of 1-12',
        input: '2026-13-01',
        ctx: { error: 'month value is outside expected range of 1-12' },
      },
    ])
    expect(errors({ start: '' })).toMatchObject([{ loc: ['query', 'start'], type: 'datetime_from_date_parsing' }])
  })

  it('keeps years to four digits', () => {
    expect(edges({ start: '9999-12-31', end: '9999-12-31' }, 'America/New_York')[1]).toBe('9999-12-31T23:59:59.999Z')
    expect(edges({ days: 1, end: '0001-01-02' })[0]).toBe('0001-01-02T00:00:00.000Z')
    expect(errors({ end: '0001-01-02' })).toMatchObject([{ type: 'value_error', loc: ['query', 'start'] }])
  })
})

describe('an interval', () => {
  it('is obeyed, whatever the length of the range', () => {
    expect(labels({ hours: 3, interval: 'day' })).toEqual(['2026-11-20'])
    expect(labels({ start: '2026-10-30', end: '2026-11-02', interval: 'week' })).toEqual(['2026-W44', '2026-W45'])
    expect(labels({ start: '2026-01-31', end: '2026-03-01', interval: 'month' })).toEqual([
      '2026-01',
      '2026-02',
      '2026-03',
    ])
    expect(labels({ days: 30, interval: 'hour' })).toHaveLength(29 * 24 + 15)
  })

  it('cuts months at local midnights', () => {
    const months = bucketsOf(range({ start: '2026-03-01', end: '2026-04-30', interval: 'month' }, 'Europe/Berlin'))
    expect(months.map(({ start }) => iso(start))).toEqual(['2026-02-28T23:00:00.000Z', '2026-03-31T22:00:00.000Z'])
  })

  it('makes at most 2,000 buckets', () => {
    expect(labels({ start: '2026-01-01T00:00', end: '2026-03-25T08:00', interval: 'hour' })).toHaveLength(2_000)
    expect(errors({ start: '2026-01-01T00:00', end: '2026-03-25T09:00', interval: 'hour' })).toMatchObject([
      { loc: ['query', 'interval'], input: 'hour' },
    ])
  })
})

describe('a comparison with the year before', () => {
  const previous = (query: Partial<RangeQuery>, timeZone = 'UTC') => {
    const { start, end } = range({ ...query, compare: 'year' }, timeZone).previous
    return [iso(start), iso(end)]
  }

  it('has the same local dates and times', () => {
    expect(previous({ days: 7 })).toEqual(['2025-11-14T00:00:00.000Z', '2025-11-20T14:25:30.500Z'])
    // Summer time began on 29 March 2026, and on 30 March 2025.
    expect(previous({ start: '2026-03-29', end: '2026-03-29' }, 'Europe/Berlin')).toEqual([
      '2025-03-28T23:00:00.000Z',
      '2025-03-29T23:00:00.000Z',
    ])
  })

  it('has the 28th for 29 February, and ends where the range begins', () => {
    const leap = Date.parse('2028-03-01T12:00:00Z')
    const { previous: before } = range({ start: '2028-02-29', end: '2028-02-29', compare: 'year' }, 'UTC', leap)
    expect([iso(before.start), iso(before.end)]).toEqual(['2027-02-28T00:00:00.000Z', '2027-03-01T00:00:00.000Z'])
    const long = range({ start: '2025-11-20', end: '2026-11-20', compare: 'year' })
    expect(iso(long.previous.end)).toBe('2025-11-20T00:00:00.000Z')
  })

  it('is left out when none is asked for', () => {
    expect(range({ days: 7, compare: 'none' }).isCompared).toBe(false)
    expect(range({ days: 7 }).isCompared).toBe(true)
  })
})
