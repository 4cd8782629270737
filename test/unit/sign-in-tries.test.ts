/** Tries to sign in that nobody compared count for nobody. */
import { expect, test } from 'vitest'
import { makeSecondFactorCodes, WrongCode } from '../../api/dashboard/second-factor/codes.ts'
import { makeSignInLimiter } from '../../api/guards/rate-limit.ts'
import { systemClock } from '../../runtime/clock.ts'
import { StoreUnavailable } from '../../runtime/store-error.ts'
import { signInTriesOfAddressMax, signInTriesOfEmailMax } from '../../schemas/limits/api-limits.ts'

test('an e-mail without tries left takes none of an address', async () => {
  const limiter = makeSignInLimiter(undefined)
  const email = 'ann@example.com'
  for (let at = 0; at < signInTriesOfEmailMax; at++) await limiter.take({ address: `192.0.2.${at}`, email })
  const office = '198.51.100.1'
  for (let at = 0; at < signInTriesOfAddressMax; at++)
    expect(await limiter.take({ address: office, email })).toBeGreaterThan(0)
  expect(await limiter.take({ address: office, email: 'bob@example.com' })).toBe(0)
})

test('a code counts as a try where it was wrong, and not where a store was away', async () => {
  let counted = 0
  const limiter = {
    takeCode: async () => {
      counted++
      return 0
    },
    giveBackCode: async () => void counted--,
  }
  const codes = makeSecondFactorCodes({ box: {} as never, clock: systemClock, limiter })
  await expect(codes.attempt(1, () => Promise.reject(new StoreUnavailable('postgres', 'away')))).rejects.toThrow('away')
  expect(counted).toBe(0)
  expect(await codes.attempt(1, () => Promise.reject(new WrongCode()))).toEqual({ waitMs: 0 })
  expect(counted).toBe(1)
})
