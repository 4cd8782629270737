/** Which bucket of a chart is the one that goes on. */
import { expect, test } from 'vitest'
import { countEnded } from '../../web/dashboard/charts/chart-buckets.ts'

test('a bucket is over at its end, and the last one of a range that ends now goes on', () => {
  const at = (time: string) => `2026-06-10T${time}Z`
  const buckets = [
    { label: '8', start: at('08:00:00'), end: at('09:00:00') },
    { label: '9', start: at('09:00:00'), end: at('10:00:00') },
    { label: '10', start: at('10:00:00'), end: at('10:00:30') },
  ]
  const ended = ['09:59:59', '10:00:31', '10:02:00'].map((time) => countEnded(buckets, at(time)))
  expect(ended).toEqual([1, 2, 3])
})
