import { expect, test } from 'vitest'
import { makeLinkPasswords } from '../../ingest/http/link-passwords.ts'
import { makePasswordTries } from '../../ingest/http/password-tries.ts'
import { fixedClock } from '../../runtime/clock.ts'
import { linkPasswordLengthMax } from '../../schemas/limits/api-limits.ts'
import {
  linkPasswordsWaitingMax,
  linkPasswordTriesMax,
  linkPasswordTriesMs,
  linkPasswordTriesOfNetworkMax,
} from '../../schemas/limits/ingest-limits.ts'

const now = Date.UTC(2026, 10, 20, 12)
const clock = fixedClock(now)
const tried = { linkId: 1, passwordHash: 'right', password: 'wrong', address: '192.0.2.1' }
const right = { ...tried, password: 'right' }
const passwords = () => makeLinkPasswords(makePasswordTries(clock), async (password, hash) => password === hash)
const times = (count: number) => Array.from({ length: count }, (_, at) => at)

test('wrong passwords of a network are limited at each link for a while, right ones are not', async () => {
  const { check } = passwords()
  const longest = '🙂'.repeat(linkPasswordLengthMax)
  expect(await check({ ...right, password: longest, passwordHash: longest })).toBe('right')
  for (const _ of times(3 * linkPasswordTriesOfNetworkMax)) expect(await check(right)).toBe('right')
  const address = (at: number) => `2001:db8::${at}`
  for (const at of times(linkPasswordTriesOfNetworkMax)) {
    clock.set(now + at)
    expect(await check({ ...tried, address: address(at) })).toBe('wrong')
  }
  clock.set(now + linkPasswordTriesMs - 1)
  // A household has 2^64 addresses, and the right one doesn't help a network that has had its tries.
  expect(await check({ ...right, address: address(999) })).toEqual({ limitedMs: 1 })
  expect(await check({ ...right, address: '2001:db8:0:1::1' })).toBe('right')
  expect(await check({ ...right, address: address(999), linkId: 2 })).toBe('right')
  clock.advance(1)
  expect(await check({ ...right, address: address(999) })).toBe('right')
})

test('wrong passwords of all networks together are limited at a link', async () => {
  const { check } = passwords()
  const address = (at: number) => `192.0.2.${at % 256}`
  for (const at of times(linkPasswordTriesMax)) expect(await check({ ...tried, address: address(at) })).toBe('wrong')
  expect(await check({ ...right, address: '198.51.100.1' })).toEqual({ limitedMs: linkPasswordTriesMs })
  expect(await check({ ...right, address: '198.51.100.1', linkId: 2 })).toBe('right')
})

test('one password is compared at a time, and beyond those that wait others are turned away without a try', async () => {
  let [atOnce, most] = [0, 0]
  const { check } = makeLinkPasswords(makePasswordTries(clock), async () => {
    most = Math.max(most, ++atOnce)
    await new Promise(setImmediate)
    atOnce--
    throw new Error('no hash')
  })
  const asked = times(linkPasswordsWaitingMax + 3).map((linkId) => check({ ...tried, linkId }))
  const outcomes = await Promise.allSettled(asked)
  expect(outcomes.map((one) => (one.status === 'fulfilled' ? one.value : 'thrown'))).toEqual([
    ...times(linkPasswordsWaitingMax + 1).map(() => 'thrown'),
    'busy',
    'busy',
  ])
  expect(most).toBe(1)
})
