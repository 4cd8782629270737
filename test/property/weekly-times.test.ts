/** Weekly times as moments, against a naive computation: each date of the calendar asked for itself. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { weeklyMoments } from '../../schemas/time/weekly-times.ts'
import { day, minute as minuteMs } from '../oracle/facts.ts'
import { instantOf, localDay } from '../oracle/local-time.ts'

const days = 8
/** Their clocks change by an hour or by half of one, at night, at midnight, or not at all. */
const zones = fc.constantFrom(
  ...'Europe/Berlin America/New_York Australia/Lord_Howe America/Havana Asia/Beirut Asia/Kathmandu'.split(' '),
)
/** Weeks in which these clocks change, mostly. */
const starts = fc
  .tuple(fc.integer({ min: 2024, max: 2034 }), fc.constantFrom(2, 3, 9, 10), fc.integer({ min: 0, max: 31 * 24 * 60 }))
  .map(([year, month, minutes]) => Date.UTC(year, month, 1) + minutes * minuteMs)
const minutes = fc.oneof(fc.integer({ min: 0, max: 4 * 60 }), fc.integer({ min: 0, max: 24 * 60 - 1 }))
const weekly = fc.record({ weekday: fc.oneof(fc.constant(7), fc.integer({ min: 1, max: 7 })), minute: minutes })

test('weekly times are those moments of the next days, in order and each once, whatever the clocks do', () => {
  const property = fc.property(zones, starts, fc.array(weekly, { maxLength: 8 }), (timeZone, from, times) => {
    const today = localDay(timeZone, from)
    const dates = Array.from({ length: days + 2 }, (_, at) => today + (at - 1) * day)
    const named = dates.flatMap((date) =>
      times
        .filter(({ weekday }) => weekday % 7 === new Date(date).getUTCDay())
        .map(({ minute }) => instantOf(timeZone, date + minute * minuteMs)),
    )
    const wanted = [...new Set(named)].filter((moment) => moment > from).sort((one, other) => one - other)
    expect(weeklyMoments(times, { timeZone, from, days })).toEqual(wanted)
  })
  fc.assert(property, { numRuns: 200 })
})

test.each([
  ['2030-03-31T00:00Z', 'Europe/Berlin', { weekday: 7, minute: 150 }, '2030-03-31T01:30:00.000Z'],
  ['2030-10-26T23:00Z', 'Europe/Berlin', { weekday: 7, minute: 150 }, '2030-10-27T00:30:00.000Z'],
  // Saturday's last hour is skipped: its times come on a Sunday that has begun.
  ['2030-03-31T01:05Z', 'America/Nuuk', { weekday: 6, minute: 23 * 60 + 30 }, '2030-03-31T01:30:00.000Z'],
])('after %s in %s the time %j is once on that day, at %s', (from, timeZone, time, wanted) => {
  const moments = weeklyMoments([time], { timeZone, from: Date.parse(from), days: 1 })
  expect(moments.map((moment) => new Date(moment).toISOString())).toEqual([wanted])
})
