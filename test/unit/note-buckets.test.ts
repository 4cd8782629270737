/** Which bucket of the chart a note marks, by the chart's timezone. */
import { expect, test } from 'vitest'
import type { AnalyticsOverview } from '../../schemas/resources/overview.ts'
import { bucketsOf, resolveTimeRange } from '../../schemas/time/time-range.ts'
import { notesByBucket } from '../../web/dashboard/charts/note-buckets.ts'

type Points = NonNullable<AnalyticsOverview['traffic_series']>

const zone = 'America/Havana'
/** The clocks skip the midnight before 10 March 2030, and show the hour before that of 3 November twice. */
test.each([
  ['month', '2030-01-15', '2030-04-30', '2030-01-15', null, 0],
  ['month', '2030-01-15', '2030-04-30', '2030-01-14', null, undefined],
  ['month', '2030-01-15', '2030-04-30', '2030-03-31', '23:59', 2],
  ['week', '2030-03-04', '2030-03-20', '2030-03-10', null, 0],
  ['day', '2030-03-09', '2030-03-11', '2030-03-09', '23:59', 0],
  ['day', '2030-03-09', '2030-03-11', '2030-03-10', null, 1],
  ['day', '2030-03-09', '2030-03-11', '2030-03-12', null, undefined],
  ['hour', '2030-03-09T22:30', '2030-03-10T03:00', '2030-03-09', null, 0],
  ['hour', '2030-03-09T22:30', '2030-03-10T03:00', '2030-03-10', null, 2],
  ['hour', '2030-03-09T22:30', '2030-03-10T03:00', '2030-03-09', '22:29', undefined],
  ['hour', '2030-11-03T00:00', '2030-11-03T03:00', '2030-11-03', '01:30', 2],
] as const)('by %s from %s to %s a note of %s, %s marks bucket %s', (interval, start, end, day, time, bucket) => {
  const resolved = resolveTimeRange({ days: 1, start, end, interval }, zone, 0)
  if (!resolved.ok) throw new Error('no such range')
  const points = bucketsOf(resolved.range).map((one) => ({
    start: new Date(one.start).toISOString(),
    end: new Date(one.end).toISOString(),
  })) as unknown as Points
  const note = { id: 1, object_id: 'note_1', day, time, text: 'T', created_at: '2030-01-01T00:00:00.000Z' }
  expect([...notesByBucket([note], points, zone).keys()]).toEqual(bucket === undefined ? [] : [bucket])
})
