import fc from 'fast-check'
import { expect, test } from 'vitest'
import { localDayAt, startOfLocalDay, wallTime, wallTimeAt, wallToUtc } from '../../schemas/time/time-zone.ts'

const zones = fc.oneof(
  fc.constantFrom(...Intl.supportedValuesOf('timeZone')),
  fc.constantFrom('UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Asia/Kathmandu'),
  fc.constantFrom('Australia/Lord_Howe', 'America/St_Johns', 'America/Sao_Paulo', 'Africa/Cairo', 'Asia/Beirut'),
  fc.constantFrom('Pacific/Apia', 'Pacific/Chatham', 'America/Havana', 'Africa/Casablanca', 'Asia/Tehran'),
)
const moments = fc.integer({ min: Date.UTC(1972, 0, 1), max: Date.UTC(2035, 0, 1) })

test('a wall time that exists comes back from UTC as it was, and never later than any other moment that shows it', () => {
  fc.assert(
    fc.property(zones, moments, (timeZone, moment) => {
      const wall = wallTimeAt(moment, timeZone)
      const back = wallToUtc(wall, timeZone)
      expect(wallTimeAt(back, timeZone)).toBe(wall)
      expect(back).toBeLessThanOrEqual(moment)
      const date = new Date(wall)
      const [y, mo, d] = [date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate()]
      const [h, mi, s, ms] = [date.getUTCHours(), date.getUTCMinutes(), date.getUTCSeconds(), date.getUTCMilliseconds()]
      expect(wallTime(y, mo, d, h, mi, s, ms)).toBe(wall)
    }),
  )
})

test('every moment lies in exactly one local day', () => {
  fc.assert(
    fc.property(zones, moments, (timeZone, moment) => {
      const day = localDayAt(moment, timeZone)
      expect(startOfLocalDay(day, timeZone)).toBeLessThanOrEqual(moment)
      expect(startOfLocalDay(day + 1, timeZone)).toBeGreaterThan(moment)
    }),
  )
})
