import fc from 'fast-check'
import { expect, test } from 'vitest'
import { bucketsOf, resolveTimeRange, type TimeRange } from '../../schemas/time-range.ts'
import { dayMs, localDayAt, startOfLocalDay, wallTime, wallTimeAt, wallToUtc } from '../../schemas/time-zone.ts'

const zones = fc.oneof(
  fc.constantFrom(...Intl.supportedValuesOf('timeZone')),
  fc.constantFrom('UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Asia/Kathmandu'),
  fc.constantFrom('Australia/Lord_Howe', 'America/St_Johns', 'America/Sao_Paulo', 'Africa/Cairo', 'Asia/Beirut'),
  fc.constantFrom('Pacific/Apia', 'Pacific/Chatham', 'America/Havana', 'Africa/Casablanca', 'Asia/Tehran'),
)
const moments = fc.integer({ min: Date.UTC(1972, 0, 1), max: Date.UTC(2035, 0, 1) })
const spans = fc.oneof(
  fc.integer({ min: 1, max: 4 * dayMs }),
  fc.integer({ min: 1, max: 125 * dayMs }),
  fc.integer({ min: 1, max: 365 * dayMs }),
)

function rangeOf(start: number, span: number, timeZone: string): TimeRange {
  const [from, to] = [start, start + span].map((ms) => new Date(ms).toISOString())
  const resolved = resolveTimeRange({ days: 30, start: from, end: to }, timeZone, 0)
  if (!resolved.ok) throw new Error(JSON.stringify(resolved.errors))
  return resolved.range
}

test('buckets cover the range without gaps or overlaps, each within what its label says', () => {
  fc.assert(
    fc.property(zones, moments, spans, (timeZone, start, span) => {
      const range = rangeOf(start, span, timeZone)
      const buckets = bucketsOf(range)
      expect(buckets[0]?.start).toBe(range.start)
      expect(buckets.at(-1)?.end).toBe(range.end)
      for (const [i, bucket] of buckets.entries()) {
        expect(bucket.end).toBeGreaterThan(bucket.start)
        if (i > 0) expect(bucket.start).toBe(buckets[i - 1]?.end)
        // Independently of how buckets are cut: by the calendar that people read.
        const days = [bucket.start, bucket.end - 1].map((moment) => shownDay(moment, timeZone))
        if (range.bucket === 'hour') {
          const hours = [bucket.start, bucket.end - 1].map((moment) => shownHour(moment, timeZone))
          expect(hours).toEqual([bucket.label.slice(0, 13), bucket.label.slice(0, 13)])
        } else if (range.bucket === 'day' && !repeatsMidnight(bucket, timeZone)) {
          expect(days).toEqual([bucket.label, bucket.label])
        } else if (range.bucket === 'week' && !repeatsMidnight(bucket, timeZone)) {
          expect(days.map(isoWeek)).toEqual([bucket.label, bucket.label])
        }
      }
    }),
    { numRuns: 300 },
  )
})

test('the range of days before ends at the same time of day, and never in the range itself', () => {
  fc.assert(
    fc.property(zones, moments, fc.integer({ min: 1, max: 365 }), (timeZone, now, days) => {
      const resolved = resolveTimeRange({ days }, timeZone, now)
      if (!resolved.ok) throw new Error(JSON.stringify(resolved.errors))
      const { start, previous } = resolved.range
      expect(previous.start).toBeLessThanOrEqual(previous.end)
      expect(previous.end).toBeLessThanOrEqual(start)
      expect(startOfLocalDay(localDayAt(previous.start, timeZone), timeZone)).toBe(previous.start)
      const earlier = wallTimeAt(now, timeZone) - days * dayMs
      const exists = wallTimeAt(wallToUtc(earlier, timeZone), timeZone) === earlier
      const isCut = previous.end === start || previous.end === previous.start
      if (exists && !isCut) expect(wallTimeAt(previous.end, timeZone)).toBe(earlier)
    }),
    { numRuns: 300 },
  )
})

test('the number of buckets stays small, however long the range', () => {
  fc.assert(
    fc.property(zones, moments, spans, (timeZone, start, span) => {
      expect(bucketsOf(rangeOf(start, span, timeZone)).length).toBeLessThanOrEqual(122)
    }),
    { numRuns: 100 },
  )
})

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

function shownDay(moment: number, timeZone: string): string {
  return new Intl.DateTimeFormat('en-CA', { timeZone, dateStyle: 'short' }).format(moment)
}

/** By walking to the first Thursday of the year. */
function isoWeek(date: string): string {
  const thursday = new Date(date)
  while (thursday.getUTCDay() !== 1) thursday.setUTCDate(thursday.getUTCDate() - 1)
  thursday.setUTCDate(thursday.getUTCDate() + 3)
  const year = thursday.getUTCFullYear()
  let week = 0
  for (; thursday.getUTCFullYear() === year; thursday.setUTCDate(thursday.getUTCDate() - 7)) week++
  return `${year}-W${String(week).padStart(2, '0')}`
}

function shownHour(moment: number, timeZone: string): string {
  const parts = {
    timeZone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    hourCycle: 'h23',
  } as const
  return new Intl.DateTimeFormat('en-CA', parts).format(moment).replace(', ', ' ')
}

/** Where clocks go back over midnight, the evening before is shown again within the new day. */
function repeatsMidnight({ start, end }: { start: number; end: number }, timeZone: string): boolean {
  for (const moment of [start, end - 1]) {
    if (Math.floor(wallTimeAt(moment, timeZone) / dayMs) !== localDayAt(moment, timeZone)) return true
  }
  return false
}
