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

it('a time zone is a name of the IANA database, and nothing else', () => {
  const names = ['UTC', 'Europe/Berlin', 'Asia/Kolkata', 'America/Argentina/Buenos_Aires', 'Etc/GMT+5']
  const others = ['', '+01:00', 'Europe/Nowhere', 'Europe/Berlin ', '../etc/passwd', 'now\0']
  expect([...names, ...others].filter(isTimeZone)).toEqual(names)
})

describe('a wall time', () => {
  it.each([
    // By the offset of its day, half and quarter hours included, with milliseconds, from the year 1 to 9999.
    ['Europe/Berlin', '2026-01-15T12:00', '2026-01-15T11:00Z'],
    ['Europe/Berlin', '2026-07-15T12:00', '2026-07-15T10:00Z'],
    ['Asia/Kolkata', '2026-07-15T12:00', '2026-07-15T06:30Z'],
    ['Asia/Kathmandu', '2026-07-15T12:00', '2026-07-15T06:15Z'],
    ['Pacific/Kiritimati', '2026-07-15T12:00', '2026-07-14T22:00Z'],
    ['Asia/Tokyo', '2026-07-15T12:34:56.789', '2026-07-15T03:34:56.789Z'],
    ['UTC', '0001-01-01T00:00', '0001-01-01T00:00Z'],
    ['UTC', '9999-12-31T23:59:59.999', '9999-12-31T23:59:59.999Z'],
    ['America/New_York', '9999-12-31T23:00', '+010000-01-01T04:00Z'],
    // That the clock skipped: forward by the gap.
    ['Europe/Berlin', '2026-03-29T02:30', '2026-03-29T01:30Z'],
    ['America/New_York', '2026-03-08T02:00', '2026-03-08T07:00Z'],
    ['Australia/Lord_Howe', '2026-10-04T02:10', '2026-10-03T15:40Z'],
    ['America/Sao_Paulo', '2018-11-04T00:30', '2018-11-04T03:30Z'],
    ['Pacific/Apia', '2011-12-30T12:00', '2011-12-30T22:00Z'],
    // That the clock showed twice: the earlier one.
    ['Europe/Berlin', '2026-10-25T02:30', '2026-10-25T00:30Z'],
    ['America/New_York', '2026-11-01T01:30', '2026-11-01T05:30Z'],
    ['Australia/Lord_Howe', '2026-04-05T01:45', '2026-04-04T14:45Z'],
    ['America/Sao_Paulo', '2018-02-17T23:30', '2018-02-18T01:30Z'],
    // Right before and after a change.
    ['Europe/Berlin', '2026-03-29T01:59', '2026-03-29T00:59Z'],
    ['Europe/Berlin', '2026-03-29T03:00', '2026-03-29T01:00Z'],
    ['Europe/Berlin', '2026-10-25T01:59', '2026-10-24T23:59Z'],
    ['Europe/Berlin', '2026-10-25T03:00', '2026-10-25T02:00Z'],
  ])('of %s: %s is %s', (timeZone, text, expected) => {
    expect(wallToUtc(utc(`${text}Z`), timeZone)).toBe(utc(expected))
    const [year, month, day, ...rest] = text.split(/\D/).map(Number) as [number, number, number, ...number[]]
    expect(wallTime(year, month, day, ...rest)).toBe(utc(`${text}Z`))
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

it('the next full hour is the clock’s, or the moment at which the clock is changed, where that comes first', () => {
  expect(nextLocalHour(utc('2026-06-01T10:00:00Z'), 'Asia/Kolkata')).toBe(utc('2026-06-01T10:30:00Z'))
  expect(nextLocalHour(utc('2026-06-01T10:30:00Z'), 'Asia/Kolkata')).toBe(utc('2026-06-01T11:30:00Z'))
  // Lord Howe: 02:00 becomes 01:30.
  const change = utc('2026-04-04T15:00:00Z')
  expect(nextLocalHour(change - 3_600_000, 'Australia/Lord_Howe')).toBe(change)
  expect(nextLocalHour(change, 'Australia/Lord_Howe')).toBe(change + 1_800_000)
})

it('knows the offset before the first zones were made', () => {
  const berlinAt = (text: string) => offsetAt(utc(text), 'Europe/Berlin')
  expect(berlinAt('0001-01-01T00:00:00Z')).toBe(berlinAt('1850-01-01T00:00:00Z'))
})
