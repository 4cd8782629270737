import { expect, test } from 'vitest'
import { makeCoalescer } from '../../runtime/coalesce.ts'

function setUp() {
  const clock = { now: 0 }
  const { ask } = makeCoalescer<number>({ leastMs: 200, mostMs: 1000 }, () => clock.now)
  let asked = 0
  return { clock, ask: (question: string, work = async () => ++asked) => ask(question, work) }
}

test('equal questions that are asked while the answer is being worked on share it, others have their own', async () => {
  const { ask } = setUp()
  const answers = await Promise.all([ask('a'), ask('a'), ask('b'), ask('a')])
  expect(answers).toEqual([1, 1, 2, 1])
})

test('an answer is used for 200 ms, for twice as long as it took, and for a second at most', async () => {
  const { clock, ask } = setUp()
  const taking = async (ms: number) => {
    let finish: (answer: number) => void = () => {}
    const begunAt = clock.now
    const first = ask('a', () => new Promise((resolve) => (finish = resolve)))
    clock.now = begunAt + Math.min(ms, 999)
    const sharing = ask('a')
    clock.now = begunAt + ms
    finish(begunAt)
    expect([await first, await sharing]).toEqual([begunAt, begunAt])
    return begunAt
  }
  for (const [took, usedFor] of [
    [0, 200],
    [99, 200],
    [300, 600],
    [700, 1000],
  ] as const) {
    const begunAt = await taking(took)
    clock.now = begunAt + usedFor - 1
    expect(await ask('a')).toBe(begunAt)
    clock.now = begunAt + usedFor
  }
})

test('nobody waits for work that was begun more than a second ago', async () => {
  const { clock, ask } = setUp()
  const slow = ask('a', () => new Promise(() => {}))
  clock.now = 1000
  expect(await ask('a')).toBe(1)
  expect(await Promise.race([slow, 'still waiting'])).toBe('still waiting')
})

test('a failure is told to those who wait for it, and the next one asks anew', async () => {
  const { ask } = setUp()
  const failing = [ask('a', () => Promise.reject(new Error('away'))), ask('a')]
  expect((await Promise.allSettled(failing)).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(await ask('a')).toBe(1)
})
