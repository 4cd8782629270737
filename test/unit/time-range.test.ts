import { describe, expect, it } from 'vitest'
import { comparedSpan } from '../../api/operations/analytics/range-query.ts'
import { bucketsOf, type RangeQuery, resolveTimeRange } from '../../schemas/time/time-range.ts'

const now = Date.parse('2026-11-20T14:25:30.500Z')
const resolve = (query: Partial<RangeQuery>, timeZone = 'UTC') =>
  resolveTimeRange({ days: 30, ...query }, timeZone, now)

function range(query: Partial<RangeQuery>, timeZone = 'UTC') {
  const resolved = resolve(query, timeZone)
  if (!resolved.ok) throw new Error(JSON.stringify(resolved.errors))
  return resolved.range
}

function errors(query: Partial<RangeQuery>, timeZone = 'UTC'): unknown {
  const resolved = resolve(query, timeZone)
  return resolved.ok ? [] : resolved.errors
}

it('months are months in the first century too', () => {
  const { length, [11]: last } = bucketsOf(range({ start: '0099-02-01', end: '0100-01-31', interval: 'month' }))
  expect([length, last?.label]).toEqual([12, '0100-01'])
})

it('a range reaches to the present without an end', () => {
  const reaching = [{ days: 7 }, { hours: 3 }, { start: '2026-11-19' }]
  const ending = [
    { end: '2026-11-19' },
    { end: '2026-11-20T14:25:30.500Z' },
    { start: '2026-11-01', end: '2026-11-20' },
  ]
  expect([...reaching, ...ending].map((query) => range(query).endsNow)).toEqual([true, true, true, false, false, false])
})

it('the year before has whole days as the range has, also before a leap day and on it', () => {
  const before = (start: string, end: string) => {
    const { previous } = range({ start, end, compare: 'year' }, 'America/New_York')
    return [previous.start, previous.end].map((moment) => new Date(moment).toISOString().slice(0, 16))
  }
  expect(before('2024-02-28', '2024-02-28')).toEqual(['2023-02-28T05:00', '2023-03-01T05:00'])
  expect(before('2024-02-29', '2024-02-29')).toEqual(['2023-02-28T05:00', '2023-03-01T05:00'])
  expect(before('2024-02-01', '2024-02-29T12:00')).toEqual(['2023-02-01T05:00', '2023-02-28T17:00'])
  expect(before('2024-02-28T18:00', '2024-02-28')).toEqual(['2023-02-28T23:00', '2023-03-01T05:00'])
  expect(before('2025-02-01', '2025-02-28')).toEqual(['2024-02-01T05:00', '2024-02-29T05:00'])
  expect(before('2025-02-01', '2025-03-01T00:00:00.001')).toEqual(['2024-02-01T05:00', '2024-03-01T05:00'])
})

it('a range of which the other period has nothing is compared with none', () => {
  const skippedAYearAgo = { start: '2026-03-30T02:30', end: '2026-03-30T03:30', compare: 'year' } as const
  expect(comparedSpan(range(skippedAYearAgo, 'Europe/Berlin'), 0)).toBeUndefined()
  expect(comparedSpan(range({ ...skippedAYearAgo, compare: 'previous' }, 'Europe/Berlin'), 0)).toBeDefined()
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
    const wrong = (name: string, input: string, error: string) => ({
      type: 'datetime_from_date_parsing',
      loc: ['query', name],
      input,
      ctx: { error },
      msg: `Input should be a valid datetime or date, ${error}`,
    })
    expect(errors({ start: 'yesterday', end: '2026-13-01' })).toEqual([
      wrong('start', 'yesterday', 'input is too short'),
      wrong('end', '2026-13-01', 'month value is outside expected range of 1-12'),
    ])
    expect(errors({ start: '' })).toMatchObject([{ loc: ['query', 'start'], type: 'datetime_from_date_parsing' }])
  })

  it('keeps years to four digits', () => {
    const edges = (query: Partial<RangeQuery>, timeZone: string) => {
      const { start, end } = range(query, timeZone)
      return [start, end].map((ms) => new Date(ms).toISOString())
    }
    const last = { start: '9999-12-31', end: '9999-12-31' }
    expect(edges(last, 'America/New_York')[1]).toBe('9999-12-31T23:59:59.999Z')
    expect(edges({ days: 1, end: '0001-01-02' }, 'UTC')[0]).toBe('0001-01-02T00:00:00.000Z')
    expect(errors({ end: '0001-01-02' })).toMatchObject([{ type: 'value_error', loc: ['query', 'start'] }])
  })
})

it('an interval makes at most 2,000 buckets', () => {
  const hoursUntil = (end: string) => ({ start: '2026-01-01T00:00', end, interval: 'hour' as const })
  expect(bucketsOf(range(hoursUntil('2026-03-25T08:00')))).toHaveLength(2_000)
  const cut = { ...hoursUntil('2026-03-25T08:30'), start: '2026-01-01T00:30' }
  expect(bucketsOf(range({ ...cut, end: '2026-03-25T08:00' }))).toHaveLength(2_000)
  for (const query of [hoursUntil('2026-03-25T09:00'), cut]) {
    expect(errors(query)).toMatchObject([{ loc: ['query', 'interval'], input: 'hour' }])
  }
})
