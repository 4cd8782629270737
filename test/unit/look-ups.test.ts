import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { makeLookUps } from '../../ingest/tables/look-ups.ts'
import { fixedClock } from '../../runtime/clock.ts'
import { makeLog } from '../../runtime/log.ts'
import { keyLookupMs, keyLookupsMax } from '../../schemas/limits/ingest-limits.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

/** Look-ups that are answered when the test says so. */
function makeStore() {
  const waiting = new Map<string, (found: string | null) => void>()
  const asked: string[] = []
  const lookUps = makeLookUps<string>({
    find: (key) => {
      asked.push(key)
      return new Promise((resolve) => waiting.set(key, resolve))
    },
    clock: fixedClock(0),
    log: makeLog('test', 'silent'),
  })
  return { lookUps, asked, answer: (key: string, found: string | null) => waiting.get(key)!(found) }
}

test('whoever waits for a look-up that hangs hears that it is unavailable, and so do those who ask for it meanwhile', async () => {
  const { lookUps, asked, answer } = makeStore()
  const [first, second] = [lookUps.ask('a'), lookUps.ask('a')]
  await vi.advanceTimersByTimeAsync(keyLookupMs)
  expect(await Promise.all([first, second, lookUps.ask('a')])).toEqual(Array(3).fill('unavailable'))
  expect(asked).toEqual(['a'])
  // It comes after all: whoever asks from then on isn't kept from another one.
  answer('a', 'found')
  await vi.advanceTimersByTimeAsync(0)
  const again = lookUps.ask('a')
  answer('a', 'found')
  expect(await again).toBe('found')
})

test('an answer in time is the answer, and what isn’t there is unknown', async () => {
  const { lookUps, answer } = makeStore()
  const [found, none] = [lookUps.ask('a'), lookUps.ask('b')]
  await vi.advanceTimersByTimeAsync(keyLookupMs - 1)
  answer('a', 'found')
  answer('b', null)
  expect([await found, await none]).toEqual(['found', 'unknown'])
  expect(vi.getTimerCount()).toBe(0)
})

test('look-ups that hang count until they end, so that no more are made than may be', async () => {
  const { lookUps, asked, answer } = makeStore()
  const hanging = Array.from({ length: keyLookupsMax }, (_, at) => lookUps.ask(`key ${at}`))
  await vi.advanceTimersByTimeAsync(keyLookupMs)
  expect(new Set(await Promise.all(hanging))).toEqual(new Set(['unavailable']))
  expect(await lookUps.ask('another')).toBe('unavailable')
  expect(asked).toHaveLength(keyLookupsMax)
  answer('key 0', null)
  await vi.advanceTimersByTimeAsync(0)
  void lookUps.ask('another')
  expect(asked).toHaveLength(keyLookupsMax + 1)
})
