import { describe, expect, it } from 'vitest'
import {
  addLocalDays,
  dayMs,
  isTimeZone,
  localDayAt,
  nextLocalHour,
  offsetAt,
  startOfLocalDay,
  wallTime,
  wallToUtc,
} from '../../schemas/time/time-zone.ts'

const utc = (text: string) => Date.parse(text)
const dayNumber = (date: string) => Date.parse(`${date}T00:00Z`) / dayMs
function local(text: string, timeZone: string): string {
  const [year, month, day, hour, minute] = text.split(/\D/).map(Number) as [number, number, number, number, number]
  return new Date(wallToUtc(wallTime(year, month, day, hour, minute), timeZone)).toISOString()
}

describe('isTimeZone', () => {
  it('knows the names of the IANA database', () => {
    for (const name of ['UTC', 'Europe/Berlin', 'Asia/Kolkata', 'America/Argentina/Buenos_Aires', 'Etc/GMT+5']) {
      expect(isTimeZone(name), name).toBe(true)
    }
  })

  it('takes neither offsets nor anything else for a name', () => {
    for (const name of ['', '+01:00', 'Europe/Nowhere', 'Europe/Berlin ', '../etc/passwd', 'now\0']) {
      expect(isTimeZone(name), name).toBe(false)
    }
  })
})

describe('wallToUtc', () => {
  it('reads a time by the offset of its day, half and quarter hours included', () => {
    expect(local('2026-01-15 12:00', 'Europe/Berlin')).toBe('2026-01-15T11:00:00.000Z')
    expect(local('2026-07-15 12:00', 'Europe/Berlin')).toBe('2026-07-15T10:00:00.000Z')
    expect(local('2026-07-15 12:00', 'Asia/Kolkata')).toBe('2026-07-15T06:30:00.000Z')
    expect(local('2026-07-15 12:00', 'Asia/Kathmandu')).toBe('2026-07-15T06:15:00.000Z')
    expect(local('2026-07-15 12:00', 'Pacific/Kiritimati')).toBe('2026-07-14T22:00:00.000Z')
  })

  it('keeps seconds and milliseconds', () => {
    expect(wallToUtc(wallTime(2026, 7, 15, 12, 34, 56, 789), 'Asia/Tokyo')).toBe(utc('2026-07-15T03:34:56.789Z'))
  })

  it('moves a time that the clock skipped forward by the gap', () => {
    expect(local('2026-03-29 02:30', 'Europe/Berlin')).toBe('2026-03-29T01:30:00.000Z')
    expect(local('2026-03-08 02:00', 'America/New_York')).toBe('2026-03-08T07:00:00.000Z')
    expect(local('2026-10-04 02:10', 'Australia/Lord_Howe')).toBe('2026-10-03T15:40:00.000Z')
    expect(local('2018-11-04 00:30', 'America/Sao_Paulo')).toBe('2018-11-04T03:30:00.000Z')
    expect(local('2011-12-30 12:00', 'Pacific/Apia')).toBe('2011-12-30T22:00:00.000Z')
  })

  it('takes the earlier of two times that the clock showed twice', () => {
    expect(local('2026-10-25 02:30', 'Europe/Berlin')).toBe('2026-10-25T00:30:00.000Z')
    expect(local('2026-11-01 01:30', 'America/New_York')).toBe('2026-11-01T05:30:00.000Z')
    expect(local('2026-04-05 01:45', 'Australia/Lord_Howe')).toBe('2026-04-04T14:45:00.000Z')
    expect(local('2018-02-17 23:30', 'America/Sao_Paulo')).toBe('2018-02-18T01:30:00.000Z')
  })

  it('reads the hours right before and after a change of the clock', () => {
    expect(local('2026-03-29 01:59', 'Europe/Berlin')).toBe('2026-03-29T00:59:00.000Z')
    expect(local('2026-03-29 03:00', 'Europe/Berlin')).toBe('2026-03-29T01:00:00.000Z')
    expect(local('2026-10-25 01:59', 'Europe/Berlin')).toBe('2026-10-24T23:59:00.000Z')
    expect(local('2026-10-25 03:00', 'Europe/Berlin')).toBe('2026-10-25T02:00:00.000Z')
  })

  it('holds from the year 1 to the year 9999', () => {
    expect(wallToUtc(wallTime(1, 1, 1, 0, 0, 0, 0), 'UTC')).toBe(utc('0001-01-01T00:00:00Z'))
    expect(wallToUtc(wallTime(9999, 12, 31, 23, 59, 59, 999), 'UTC')).toBe(utc('9999-12-31T23:59:59.999Z'))
    expect(wallToUtc(wallTime(9999, 12, 31, 23, 0, 0, 0), 'America/New_York')).toBe(
      utc('9999-12-31T23:00:00Z') + 5 * 3_600_000,
    )
  })
})

describe('local days', () => {
  it.each([
    ['Europe/Berlin', '2026-03-29', 23],
    ['Europe/Berlin', '2026-10-25', 25],
    ['Asia/Beirut', '2026-03-29', 23],
    ['Africa/Cairo', '2026-04-24', 23],
    ['Africa/Cairo', '2026-10-29', 25],
    ['America/Sao_Paulo', '2018-11-04', 23],
    ['America/Sao_Paulo', '2018-02-17', 25],
    ['America/Havana', '2026-11-01', 25],
    ['Australia/Lord_Howe', '2026-10-04', 23.5],
    ['Australia/Lord_Howe', '2026-04-05', 24.5],
    ['Pacific/Apia', '2011-12-30', 0],
    ['Asia/Kolkata', '2026-06-01', 24],
  ])('%s has on %s %d hours', (timeZone, date, hours) => {
    const day = dayNumber(date)
    expect((startOfLocalDay(day + 1, timeZone) - startOfLocalDay(day, timeZone)) / 3_600_000).toBe(hours)
  })

  it('begin with the first moment after midnight where midnight was skipped', () => {
    expect(startOfLocalDay(dayNumber('2018-11-04'), 'America/Sao_Paulo')).toBe(utc('2018-11-04T03:00:00Z'))
    // Toronto's clocks went from 23:30 to 00:30.
    expect(startOfLocalDay(dayNumber('1919-03-31'), 'America/Toronto')).toBe(utc('1919-03-31T04:30:00Z'))
  })

  it('keep the evening that is shown again after their first midnight', () => {
    // St. John's put its clocks back at 00:01, to 23:01 of the day before.
    const midnight = startOfLocalDay(dayNumber('2010-11-07'), 'America/St_Johns')
    expect(midnight).toBe(utc('2010-11-07T02:30:00Z'))
    expect(localDayAt(midnight - 1, 'America/St_Johns')).toBe(dayNumber('2010-11-06'))
    expect(localDayAt(midnight + 600_000, 'America/St_Johns')).toBe(dayNumber('2010-11-07'))
  })

  it('are added by the clock on the wall', () => {
    expect(addLocalDays(utc('2026-03-28T11:00:00Z'), 1, 'Europe/Berlin')).toBe(utc('2026-03-29T10:00:00Z'))
    expect(addLocalDays(utc('2026-03-28T01:30:00Z'), 1, 'Europe/Berlin')).toBe(utc('2026-03-29T01:30:00Z'))
  })
})

describe('nextLocalHour', () => {
  it('is the next full hour of the clock', () => {
    expect(nextLocalHour(utc('2026-06-01T10:00:00Z'), 'Asia/Kolkata')).toBe(utc('2026-06-01T10:30:00Z'))
    expect(nextLocalHour(utc('2026-06-01T10:30:00Z'), 'Asia/Kolkata')).toBe(utc('2026-06-01T11:30:00Z'))
  })

  it('is the moment at which the clock is changed, where that comes first', () => {
    // Lord Howe: 02:00 becomes 01:30.
    const change = utc('2026-04-04T15:00:00Z')
    expect(nextLocalHour(change - 3_600_000, 'Australia/Lord_Howe')).toBe(change)
    expect(nextLocalHour(change, 'Australia/Lord_Howe')).toBe(change + 1_800_000)
  })
})

it('knows the offset before the first zones were made', () => {
  expect(offsetAt(utc('0001-01-01T00:00:00Z'), 'Europe/Berlin')).toBe(
    offsetAt(utc('1850-01-01T00:00:00Z'), 'Europe/Berlin'),
  )
})
