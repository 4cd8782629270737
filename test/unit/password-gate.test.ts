/** Tries of passwords that nobody could compare. */
import { expect, test } from 'vitest'
import { makePasswordGate } from '../../api/dashboard/password-gate.ts'
import { StoreUnavailable } from '../../runtime/store-error.ts'

test('a password that could not be compared while Postgres was away counts as no try', async () => {
  const back: string[] = []
  const gate = makePasswordGate({
    signInLimiter: {
      take: async () => 0,
      giveAllBack: async ({ email }: { email: string }) => void back.push(email),
    } as never,
    proxies: { resolve: () => ({ address: '192.0.2.1' }) } as never,
    knownBrowsers: { idOf: () => undefined } as never,
  })
  const away = () => Promise.reject(new StoreUnavailable('postgres', 'away'))
  const asked = { email: 'ann@example.com', pass: away, refuse: () => ({ status: 429 }) }
  await expect(gate({ headers: new Headers(), socketAddress: '' } as never, asked)).rejects.toThrow('away')
  expect(back).toEqual(['ann@example.com'])
})
