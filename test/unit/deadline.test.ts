import { getEventListeners } from 'node:events'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { within } from '../../runtime/deadline.ts'
import { sleep } from '../../runtime/retry.ts'

const aborted = (signal: AbortSignal) => new Promise((resolve) => signal.addEventListener('abort', resolve))

test('a deadline comes though nothing but its listener is kept, and after that of another; then nothing listens', async () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const outer = new AbortController()
  let ended = 0
  for (const [own, other] of [
    [300, 60_000],
    [60_000, 300],
  ] as const) {
    for (let i = 0; i < 10; i++) {
      void within(other, outer.signal, (middle) => within(own, middle, aborted)).then(() => ended++)
    }
  }
  for (let i = 0; i < 5; i++) {
    await sleep(20)
    collect()
  }
  await expect.poll(() => ended).toBe(20)
  expect(getEventListeners(outer.signal, 'abort')).toEqual([])
})

test('it ends as the signal does, and at once where that has ended', async () => {
  const outer = new AbortController()
  const reasonOf = () =>
    within(60_000, outer.signal, async (ending) => {
      if (!ending.aborted) await aborted(ending)
      return ending.reason
    })
  const reason = reasonOf()
  outer.abort('over')
  expect([await reason, await reasonOf()]).toEqual(['over', 'over'])
})

test('work that ends or fails before leaves neither a listener nor a timer', async () => {
  const { signal } = new AbortController()
  const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length
  const before = timers()
  expect(await within(60_000, signal, async () => 'done')).toBe('done')
  await expect(within(60_000, signal, () => Promise.reject(new Error('failed')))).rejects.toThrow('failed')
  expect([getEventListeners(signal, 'abort'), timers()]).toEqual([[], before])
})

test('a wait that is longer than a timer can be does not end at once', async () => {
  const ending = new AbortController()
  let hasEnded = false
  const waiting = sleep(Number.POSITIVE_INFINITY, ending.signal).then(() => {
    hasEnded = true
  })
  await sleep(50)
  expect(hasEnded).toBe(false)
  ending.abort()
  await waiting
})
