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
  it('makes at most 2,000 buckets', () => {
    expect(labels({ start: '2026-01-01T00:00', end: '2026-03-25T08:00', interval: 'hour' })).toHaveLength(2_000)
    expect(errors({ start: '2026-01-01T00:00', end: '2026-03-25T09:00', interval: 'hour' })).toMatchObject([
      { loc: ['query', 'interval'], input: 'hour' },
    ])
  })
})
