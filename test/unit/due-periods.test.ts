import { expect, test } from 'vitest'
import { duePeriods } from '../../pipeline/reports/due-periods.ts'

/** `weekly 2026-11-09 2026-11-15` of each that is due. */
const due = (timezone: string, now: string) =>
  duePeriods(timezone, Date.parse(now)).map(({ every, first, last }) => [every, first, last].join(' '))

test.each([
  ['UTC', '2026-11-16T05:59:59Z', []],
  ['UTC', '2026-11-16T06:00:00Z', ['weekly 2026-11-09 2026-11-15']],
  ['UTC', '2026-11-19T05:59:59Z', ['weekly 2026-11-09 2026-11-15']],
  ['UTC', '2026-11-19T06:00:00Z', []],
  ['UTC', '2026-12-01T06:00:00Z', ['weekly 2026-11-23 2026-11-29', 'monthly 2026-11-01 2026-11-30']],
  ['UTC', '2028-03-01T06:00:00Z', ['weekly 2028-02-21 2028-02-27', 'monthly 2028-02-01 2028-02-29']],
  ['UTC', '2027-01-03T12:00:00Z', ['monthly 2026-12-01 2026-12-31']],
  // Where clocks changed in the night to this Monday's morning, six is still six.
  ['Africa/Cairo', '2026-03-30T03:59:59Z', []],
  ['Asia/Kolkata', '2026-11-16T00:30:00Z', ['weekly 2026-11-09 2026-11-15']],
  ['America/New_York', '2026-11-02T10:59:59Z', ['monthly 2026-10-01 2026-10-31']],
  ['America/New_York', '2026-11-02T11:00:00Z', ['weekly 2026-10-26 2026-11-01', 'monthly 2026-10-01 2026-10-31']],
])('in %s at %s', (timezone, now, periods) => {
  expect(due(timezone, now)).toEqual(periods)
})

test('a period ends where the local day after it begins', () => {
  const [weekly] = duePeriods('America/New_York', Date.parse('2026-11-02T12:00:00Z'))
  expect(new Date(weekly!.end).toISOString()).toBe('2026-11-02T05:00:00.000Z')
})
