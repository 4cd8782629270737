/** The days of the dashboard's calendars, and what a post that is put on one asks of the API. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  calendarOfMonths,
  dayAfter,
  dayByKey,
  monthAfter,
  weekOf,
  weeksOfMonth,
} from '../../web/dashboard/parts/calendar-days.ts'
import { moveTo, timeOfNew } from '../../web/dashboard/posts/post-move.ts'
import { seed } from '../support/short-form.ts'

const days = fc
  .date({ min: new Date('1990-01-01'), max: new Date('2090-01-01'), noInvalidDate: true })
  .map((date) => date.toISOString().slice(0, 10))

test('the weeks of a month hold each of its days once, in order, from the first weekday on', () => {
  fc.assert(
    fc.property(days, fc.integer({ min: 1, max: 7 }), (day, first) => {
      const weeks = weeksOfMonth(day, first)
      const all = weeks.flat()
      expect(all).toEqual(Array.from({ length: 7 * weeks.length }, (_, at) => dayAfter(all[0]!, at)))
      for (const week of weeks) expect(new Date(week[0]!).getUTCDay()).toBe(first % 7)
      const start = `${day.slice(0, 7)}-01`
      const ofMonth = all.filter((one) => one.startsWith(day.slice(0, 7)))
      expect([ofMonth[0], dayAfter(ofMonth.at(-1)!, 1)]).toEqual([start, monthAfter(start, 1)])
      expect(weeks.every((week) => week.some((one) => ofMonth.includes(one)))).toBe(true)
      expect(weekOf(day, first)).toContain(day)
    }),
    { seed },
  )
})

test('a month is named in a calendar that has the same months', () => {
  const nameOf = (locale: string) => {
    const calendar = calendarOfMonths(new Intl.DateTimeFormat(locale).resolvedOptions().calendar)
    return new Intl.DateTimeFormat(locale, { calendar, month: 'long', timeZone: 'UTC' }).format(Date.UTC(2026, 10, 30))
  }
  // In the Persian calendar, its locale's own, that day is of Azar.
  expect(['en-US', 'fa-IR', 'th-TH'].map(nameOf)).toEqual(['November', 'نوامبر', 'พฤศจิกายน'])
})

test('a day of another month is the same one or its last', () => {
  expect(monthAfter('2026-01-31', 1)).toBe('2026-02-28')
  expect(monthAfter('2024-03-31', -1)).toBe('2024-02-29')
  expect(monthAfter('2026-12-15', 1)).toBe('2027-01-15')
  expect(monthAfter('2026-01-15', -1)).toBe('2025-12-15')
})

test('arrows go by days and weeks, page keys by months, other keys nowhere', () => {
  expect(['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown'].map((key) => dayByKey(key, '2026-03-01'))).toEqual([
    '2026-02-28',
    '2026-03-02',
    '2026-02-22',
    '2026-03-08',
  ])
  expect(['PageUp', 'PageDown', 'Home'].map((key) => dayByKey(key, '2026-03-31'))).toEqual([
    '2026-02-28',
    '2026-04-30',
    undefined,
  ])
})

describe('a post that is put on a day', () => {
  const now = '2026-03-10T15:20'
  const at = (status: Parameters<typeof moveTo>[1]['status'], localTime: string | null) => ({ status, localTime })

  test('keeps its time of day; a draft is scheduled, at nine where it has no time', () => {
    const later = at('scheduled', '2026-03-12T18:45')
    expect(moveTo('2026-03-20', later, now)).toEqual({ path: 'reschedule', scheduled_at: '2026-03-20T18:45' })
    const draft = at('draft', null)
    expect(moveTo('2026-03-11', draft, now)).toEqual({ path: 'schedule', scheduled_at: '2026-03-11T09:00' })
    const failed = at('failed', '2026-03-01T08:00')
    // As its readiness is judged then.
    expect(moveTo('2026-03-11', failed, now)).toEqual({ path: 'schedule', scheduled_at: '2026-03-11T08:00' })
  })

  test('goes out at the next full hour where its time of today is over', () => {
    expect(moveTo('2026-03-10', at('draft', null), now)).toMatchObject({ scheduled_at: '2026-03-10T16:00' })
    expect(moveTo('2026-03-10', at('draft', null), '2026-03-10T23:01')).toHaveProperty('refusal')
    expect(timeOfNew('2026-03-10', now)).toBe('2026-03-10T16:00')
    expect(timeOfNew('2026-03-11', now)).toBe('2026-03-11T09:00')
  })

  test('is refused a day that is over, and stays once it is published', () => {
    expect(moveTo('2026-03-09', at('scheduled', '2026-03-12T18:45'), now)).toEqual({ refusal: 'That day is over.' })
    expect(moveTo('2026-03-12', at('scheduled', '2026-03-12T18:45'), now)).toBe('stays')
    for (const status of ['published', 'publishing', 'archived'] as const)
      expect(moveTo('2026-03-20', at(status, '2026-03-12T18:45'), now)).toHaveProperty('refusal')
  })
})
