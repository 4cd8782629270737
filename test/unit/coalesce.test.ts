import { expect, test } from 'vitest'
import { makeCoalescer } from '../../runtime/coalesce.ts'

function setUp() {
  const clock = { now: 0 }
  const { ask } = makeCoalescer<number>(200, () => clock.now)
  let asked = 0
  return { clock, ask: (question: string, work = async () => ++asked) => ask(question, work) }
}

test('equal questions that are asked while the answer is being worked on share it, others have their own', async () => {
  const { ask } = setUp()
  const answers = await Promise.all([ask('a'), ask('a'), ask('b'), ask('a')])
  expect(answers).toEqual([1, 1, 2, 1])
})

test('an answer is no older than the time that it may be used for, however long the work takes', async () => {
  const { clock, ask } = setUp()
  let finish: (answer: number) => void = () => {}
  const slow = ask(
    'a',
    () =>
      new Promise((resolve) => {
        finish = resolve
      }),
  )
  clock.now = 199
  const sharing = ask('a')
  clock.now = 200
  expect(await ask('a')).toBe(1)
  finish(7)
  expect([await slow, await sharing]).toEqual([7, 7])
  clock.now = 399
  expect(await ask('a')).toBe(1)
  clock.now = 400
  expect(await ask('a')).toBe(2)
})

test('a failure is told to those who wait for it, and the next one asks anew', async () => {
  const { ask } = setUp()
  const failing = [ask('a', () => Promise.reject(new Error('away'))), ask('a')]
  expect((await Promise.allSettled(failing)).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(await ask('a')).toBe(1)
})
