import { expect, test } from 'vitest'
import { hurriesForMs, lateMsMax, makeGivingWay, utilizationMax } from '../../runtime/giving-way.ts'

const well = { utilization: utilizationMax - 0.01, lateMs: lateMsMax - 1 }

test('a thread gives way while it has time to spare and comes round soon', () => {
  const givesWay = makeGivingWay()
  expect([0, 2_000, 4_000].map((now) => givesWay(well, now))).toEqual([true, true, true])
})

test.each([
  ['has no time to spare', { ...well, utilization: utilizationMax }],
  ['came round late', { ...well, lateMs: lateMsMax }],
])('one that %s gives way to none, for a while after that as well', (_, behind) => {
  const givesWay = makeGivingWay()
  expect(givesWay(behind, 1_000)).toBe(false)
  expect(givesWay(well, 3_000)).toBe(false)
  // Anew from each look that finds it so.
  expect(givesWay(behind, 5_000)).toBe(false)
  expect(givesWay(well, 5_000 + hurriesForMs - 1)).toBe(false)
  expect(givesWay(well, 5_000 + hurriesForMs)).toBe(true)
})
