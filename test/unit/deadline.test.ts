import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { endAfter } from '../../runtime/deadline.ts'
import { sleep } from '../../runtime/retry.ts'

test('a deadline comes though nothing but its listener is kept, and after that of another', async () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const outer = new AbortController()
  let ended = 0
  for (const [own, other] of [
    [300, 60_000],
    [60_000, 300],
  ] as const) {
    for (let i = 0; i < 10; i++) {
      endAfter(endAfter(outer.signal, other), own).addEventListener('abort', () => ended++)
    }
  }
  for (let i = 0; i < 5; i++) {
    await sleep(20)
    collect()
  }
  await expect.poll(() => ended).toBe(20)
})

test('it ends as the signal does, and at once where that has ended', () => {
  const outer = new AbortController()
  const signal = endAfter(outer.signal, 60_000)
  outer.abort('over')
  expect([signal.aborted, signal.reason]).toEqual([true, 'over'])
  expect(endAfter(outer.signal, 60_000).reason).toBe('over')
})
