import { describe, expect, it } from 'vitest'
import { bucketsOf, type RangeQuery, resolveTimeRange, type TimeRange } from '../../schemas/time-range.ts'

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

describe('the range', () => {
  it('begins days − 1 local midnights before the one of today, and ends now', () => {
    expect(edges({ days: 1 })).toEqual(['2026-11-20T00:00:00.000Z', '2026-11-20T14:25:30.500Z'])
    expect(edges({ days: 30 }, 'Europe/Berlin')).toEqual(['2026-10-21T22:00:00.000Z', '2026-11-20T14:25:30.500Z'])
    expect(edges({ days: 2 }, 'Asia/Kolkata')).toEqual(['2026-11-18T18:30:00.000Z', '2026-11-20T14:25:30.500Z'])
    expect(edges({ days: 1 }, 'Pacific/Auckland')).toEqual(['2026-11-20T11:00:00.000Z', '2026-11-20T14:25:30.500Z'])
  })

  it('is the last hours when hours are asked for, whatever the days', () => {
    expect(edges({ hours: 3, days: 7 })).toEqual(['2026-11-20T11:25:30.500Z', '2026-11-20T14:25:30.500Z'])
  })

  it('takes dates as whole local days, the last one included', () => {
    expect(edges({ start: '2026-10-24', end: '2026-10-25', hours: 3 }, 'Europe/Berlin')).toEqual([
      '2026-10-23T22:00:00.000Z',
      '2026-10-25T23:00:00.000Z',
    ])
    expect(edges({ start: '2018-11-04', end: '2018-11-04' }, 'America/Sao_Paulo')).toEqual([
      '2018-11-04T03:00:00.000Z',
      '2018-11-05T02:00:00.000Z',
    ])
  })

  it('takes date-times as they are, and as local ones without an offset', () => {
    expect(edges({ start: '2026-11-20T10:00:00+05:30', end: '2026-11-20T09:00:00' }, 'Europe/Berlin')).toEqual([
      '2026-11-20T04:30:00.000Z',
      '2026-11-20T08:00:00.000Z',
    ])
    expect(edges({ start: '2026-03-29T02:30', end: '2026-03-29' }, 'Europe/Berlin')[0]).toBe('2026-03-29T01:30:00.000Z')
  })

  it('goes on until now with a start alone', () => {
    expect(edges({ start: '2026-11-19', hours: 1 })).toEqual(['2026-11-19T00:00:00.000Z', '2026-11-20T14:25:30.500Z'])
  })

  it('holds days whole days with an end alone', () => {
    const sevenDays = ['2026-11-04T00:00:00.000Z', '2026-11-11T00:00:00.000Z']
    expect(edges({ end: '2026-11-10', days: 7 })).toEqual(sevenDays)
    expect(edges({ end: '2026-11-11T00:00:00Z', days: 7 })).toEqual(sevenDays)
    expect(edges({ end: '2026-11-10T12:00:00Z', days: 7, hours: 1 })[0]).toBe('2026-11-04T00:00:00.000Z')
  })

  it('reaches to the present without an end', () => {
    const reaching = [{ days: 7 }, { hours: 3 }, { start: '2026-11-19' }]
    const ending = [{ end: '2026-11-19' }, { end: iso(now) }, { start: '2026-11-01', end: '2026-11-20' }]
    expect(reaching.map((query) => range(query).endsNow)).toEqual([true, true, true])
    expect(ending.map((query) => range(query).endsNow)).toEqual([false, false, false])
  })

  it('is a whole day at midnight, not nothing', () => {
    expect(edges({ days: 1 }, 'UTC', Date.parse('2026-11-20T00:00:00Z'))).toEqual([
      '2026-11-19T00:00:00.000Z',
      '2026-11-20T00:00:00.000Z',
    ])
  })
})

describe('the previous range', () => {
  const previous = (query: Partial<RangeQuery>, timeZone = 'UTC', at = now) => {
    const { start, end } = range(query, timeZone, at).previous
    return [iso(start), iso(end)]
  }

  it('of days is the same local days and time of day, as many days earlier', () => {
    expect(previous({ days: 1 })).toEqual(['2026-11-19T00:00:00.000Z', '2026-11-19T14:25:30.500Z'])
    expect(previous({}, 'Asia/Kolkata')).toEqual(['2026-09-21T18:30:00.000Z', '2026-10-21T14:25:30.500Z'])
    // Summer time ended on October 25.
    expect(previous({ days: 30 }, 'Europe/Berlin')).toEqual(['2026-09-21T22:00:00.000Z', '2026-10-21T13:25:30.500Z'])
  })

  it('of days ends where the range begins at the latest', () => {
    const midnight = Date.parse('2026-11-20T00:00:00Z')
    expect(previous({ days: 1 }, 'UTC', midnight)).toEqual(['2026-11-18T00:00:00.000Z', '2026-11-19T00:00:00.000Z'])
    // Samoa had no December 30: nothing lies between the same day's begin and its own.
    const afterGap = Date.parse('2011-12-30T22:00:00Z')
    expect(previous({ days: 1 }, 'Pacific/Apia', afterGap)).toEqual([
      '2011-12-30T10:00:00.000Z',
      '2011-12-30T10:00:00.000Z',
    ])
    // St. John's put the first minute of November 7 back to 23:01.
    const again = Date.parse('2010-11-07T03:00:00Z')
    expect(previous({ days: 1 }, 'America/St_Johns', again)).toEqual([
      '2010-11-06T02:30:00.000Z',
      '2010-11-06T02:30:00.000Z',
    ])
  })

  it('of every other form is as many milliseconds just before', () => {
    const forms = [
      { hours: 5 },
      { start: '2026-11-01' },
      { end: '2026-11-01', days: 7 },
      { hours: 1, end: '2026-11-01' },
    ]
    for (const query of [...forms, { start: '2026-10-20', end: '2026-10-30' }]) {
      const { start, end, previous } = range(query, 'Europe/Berlin')
      expect(previous).toEqual({ start: start - (end - start), end: start })
    }
  })
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

describe('buckets', () => {
  it('are hours up to 72, days up to 120 local days, and weeks beyond', () => {
    expect(range({ hours: 72 }).bucket).toBe('hour')
    expect(range({ hours: 73 }).bucket).toBe('day')
    expect(range({ start: '2026-08-01', end: '2026-11-28' }, 'Europe/Berlin').bucket).toBe('day')
    expect(range({ start: '2026-08-01', end: '2026-11-29' }, 'Europe/Berlin').bucket).toBe('week')
    expect(range({ days: 365 }).bucket).toBe('week')
  })

  it('are cut at both ends of the range, and carry the label of their whole hour, day or week', () => {
    expect(bucketsOf(range({ hours: 2 }, 'Asia/Kolkata')).map((b) => [b.label, iso(b.start), iso(b.end)])).toEqual([
      ['2026-11-20 17:00', '2026-11-20T12:25:30.500Z', '2026-11-20T12:30:00.000Z'],
      ['2026-11-20 18:00', '2026-11-20T12:30:00.000Z', '2026-11-20T13:30:00.000Z'],
      ['2026-11-20 19:00', '2026-11-20T13:30:00.000Z', '2026-11-20T14:25:30.500Z'],
    ])
    expect(labels({ hours: 73 })).toEqual(['2026-11-17', '2026-11-18', '2026-11-19', '2026-11-20'])
  })

  it('show a repeated hour twice and a skipped one not at all', () => {
    const back = { start: '2026-10-25T01:00', end: '2026-10-25T04:00' }
    expect(labels(back, 'Europe/Berlin')).toEqual([
      '2026-10-25 01:00',
      '2026-10-25 02:00',
      '2026-10-25 02:00',
      '2026-10-25 03:00',
    ])
    const forward = { start: '2026-03-29T01:00', end: '2026-03-29T04:00' }
    expect(labels(forward, 'Europe/Berlin')).toEqual(['2026-03-29 01:00', '2026-03-29 03:00'])
  })

  it('show half of a repeated hour for itself where clocks change by half an hour', () => {
    const back = { start: '2026-04-05T01:00', end: '2026-04-05T03:00' }
    const minutes = bucketsOf(range(back, 'Australia/Lord_Howe')).map((b) => [b.label, (b.end - b.start) / 60_000])
    expect(minutes).toEqual([
      ['2026-04-05 01:00', 60],
      ['2026-04-05 01:00', 30],
      ['2026-04-05 02:00', 60],
    ])
  })

  it('are local days of 23, 24 or 25 hours', () => {
    const hours = bucketsOf(range({ start: '2026-10-23', end: '2026-10-26' }, 'Europe/Berlin')).map(
      (bucket) => (bucket.end - bucket.start) / 3_600_000,
    )
    expect(hours).toEqual([24, 24, 25, 24])
  })

  it('leave out a day that the date line took away', () => {
    expect(labels({ start: '2011-12-27', end: '2012-01-01' }, 'Pacific/Apia')).toEqual([
      '2011-12-27',
      '2011-12-28',
      '2011-12-29',
      '2011-12-31',
      '2012-01-01',
    ])
  })

  it('are ISO weeks from local Monday midnight', () => {
    const weeks = bucketsOf(range({ start: '2026-07-01', end: '2027-01-10' }, 'Asia/Tokyo'))
    expect(weeks.slice(0, 2).map((b) => [b.label, iso(b.start)])).toEqual([
      ['2026-W27', '2026-06-30T15:00:00.000Z'],
      ['2026-W28', '2026-07-05T15:00:00.000Z'],
    ])
    expect(weeks.slice(-3).map((b) => [b.label, iso(b.end)])).toEqual([
      ['2026-W52', '2026-12-27T15:00:00.000Z'],
      ['2026-W53', '2027-01-03T15:00:00.000Z'],
      ['2027-W01', '2027-01-10T15:00:00.000Z'],
    ])
  })

  it('are weeks of 167 or 169 hours where clocks change', () => {
    const weeks = bucketsOf(range({ start: '2026-03-02', end: '2026-11-01' }, 'Europe/Berlin'))
    const hours = weeks.map(({ label, start, end }) => [label, (end - start) / 3_600_000] as const)
    expect(hours.filter(([, length]) => length !== 168)).toEqual([
      ['2026-W13', 167],
      ['2026-W43', 169],
    ])
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
