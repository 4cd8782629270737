import { expect, test } from 'vitest'
import { hurriesForMs, keepsUpBelow, makeGivingWay } from '../../runtime/giving-way.ts'

test('a thread gives way while it has room to wait', () => {
  const givesWay = makeGivingWay()
  expect([0, 0.5, keepsUpBelow - 0.01].map((utilization, at) => givesWay(utilization, at * 500))).toEqual([
    true,
    true,
    true,
  ])
})

test('one that has no room gives way to none, for a while after that as well', () => {
  const givesWay = makeGivingWay()
  expect(givesWay(keepsUpBelow, 1_000)).toBe(false)
  expect(givesWay(0.1, 1_500)).toBe(false)
  // Anew from each look that finds it so.
  expect(givesWay(1, 2_000)).toBe(false)
  expect(givesWay(0.1, 2_000 + hurriesForMs - 1)).toBe(false)
  expect(givesWay(0.1, 2_000 + hurriesForMs)).toBe(true)
})
