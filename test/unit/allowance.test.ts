import { expect, test } from 'vitest'
import { makeAllowance } from '../../runtime/allowance.ts'

test('work has its share of the time, and is done by one at a time', () => {
  const clock = { now: 0 }
  const { begin } = makeAllowance(0.25, () => clock.now)
  const end = begin()!
  expect(begin()).toBeUndefined()
  clock.now = 100
  end()
  expect(begin()).toBeUndefined()
  clock.now = 399
  expect(begin()).toBeUndefined()
  clock.now = 400
  expect(begin()).toBeTypeOf('function')
})
