import { pino } from 'pino'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { makeWarmer } from '../../api/warmer.ts'
import type { AggregateSnapshot } from '../../schemas/aggregate-snapshot.ts'
import {
  warmAgainMs,
  warmCheckMs,
  warmedAgeMaxMs,
  warmedForMs,
  warmedQuestionsMax,
  warmWaitMaxMs,
} from '../../schemas/limits.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

function setUp() {
  const warmed: [question: string, revision: number][] = []
  const aggregates = { revision: 1, committedAt: 0, isAway: false, timesRead: 0 }
  /** Held up: reading ahead ends when it is called. */
  const slow: { end?: () => void } = {}
  const snapshots = async () => {
    aggregates.timesRead++
    if (aggregates.isAway) throw new Error('away')
    return { revision: aggregates.revision, committedAt: aggregates.committedAt } as AggregateSnapshot
  }
  const { first, note, snapshot, stop } = makeWarmer(snapshots, pino({ level: 'silent' }))
  const ask = (question: string) =>
    note(question, async ({ revision }) => {
      warmed.push([question, revision])
      if (question === 'fails') throw new Error('too much')
      if (question === 'slow') await new Promise<void>((resolve) => Object.assign(slow, { end: resolve }))
    })
  /** The revision of the aggregates that it is answered by. */
  const answeredBy = async (question: string) => {
    const used = snapshot(question)
    ask(question)
    return (await used).revision
  }
  const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms)
  return { warmed, aggregates, slow, first, ask, answeredBy, stop, pass }
}

test('a question that is asked again is read ahead once for each change of the aggregates', async () => {
  const { warmed, aggregates, ask, pass } = setUp()
  ask('a')
  await pass(warmedForMs / 2)
  expect(warmed).toEqual([])
  ask('a')
  await pass(warmAgainMs - 1)
  expect(warmed).toEqual([])
  await pass(warmCheckMs)
  expect(warmed).toEqual([['a', 1]])
  await pass(warmAgainMs)
  expect(warmed).toHaveLength(1)
  aggregates.revision = 2
  await pass(warmCheckMs)
  expect(warmed).toEqual([
    ['a', 1],
    ['a', 2],
  ])
})

test('it is read ahead no sooner than a time after it was asked or read ahead, and no longer than a time after it was asked', async () => {
  const { warmed, aggregates, ask, pass } = setUp()
  ask('a')
  ask('a')
  const endAt = warmedForMs + 2 * warmCheckMs
  for (let at = 0; at < endAt; at += 100) {
    aggregates.revision++
    await pass(100)
  }
  const most = warmedForMs / warmAgainMs
  expect(warmed.length).toBeLessThanOrEqual(most)
  expect(warmed.length).toBeGreaterThan(most / 2)
  const before = warmed.length
  aggregates.revision++
  await pass(10 * warmedForMs)
  expect(warmed).toHaveLength(before)
  expect(vi.getTimerCount()).toBe(0)
})

test('a question that is asked now and then only, is not read ahead', async () => {
  const { warmed, aggregates, ask, pass } = setUp()
  for (let round = 0; round < 3; round++) {
    ask('a')
    aggregates.revision++
    await pass(warmedForMs + 2 * warmCheckMs)
  }
  expect(warmed).toEqual([])
  // Nor is it looked whether the aggregates have changed.
  expect(aggregates.timesRead).toBe(0)
})

test('of many questions those that were asked last are kept, and read ahead in the order in which they were asked', async () => {
  const { warmed, ask, pass } = setUp()
  const questions = Array.from({ length: warmedQuestionsMax + 3 }, (_, at) => `${at}`)
  for (const question of questions) {
    ask(question)
    ask(question)
  }
  await pass(warmAgainMs + warmCheckMs)
  expect(warmed.map(([question]) => question)).toEqual(questions.slice(3))
})

test('a few of them are read ahead at once, and others after these', async () => {
  const { warmed, slow, ask, pass } = setUp()
  for (const question of ['slow', 'a', 'b', 'c', 'd', 'e']) {
    ask(question)
    ask(question)
  }
  await pass(warmAgainMs + warmCheckMs)
  expect(warmed.map(([question]) => question)).toEqual(['slow', 'a', 'b', 'c'])
  slow.end!()
  await pass(0)
  expect(warmed.slice(4).map(([question]) => question)).toEqual(['d', 'e'])
})

test('a question that can’t be read ahead keeps no other one from it, and has to be asked twice again', async () => {
  const { warmed, aggregates, ask, pass } = setUp()
  for (const question of ['fails', 'fails', 'a', 'a']) ask(question)
  await pass(warmAgainMs + warmCheckMs)
  aggregates.revision = 2
  await pass(warmAgainMs + warmCheckMs)
  expect(warmed).toEqual([
    ['fails', 1],
    ['a', 1],
    ['a', 2],
  ])
  ask('fails')
  ask('fails')
  await pass(warmAgainMs + warmCheckMs)
  expect(warmed.at(-1)).toEqual(['fails', 2])
})

test('stores that are away are asked again later; after the end nothing is', async () => {
  const { warmed, aggregates, ask, stop, pass } = setUp()
  aggregates.isAway = true
  ask('a')
  ask('a')
  await pass(2 * warmAgainMs)
  expect(warmed).toEqual([])
  aggregates.isAway = false
  await pass(warmCheckMs)
  expect(warmed).toEqual([['a', 1]])
  stop()
  aggregates.revision = 2
  await pass(warmAgainMs + warmCheckMs)
  expect(warmed).toHaveLength(1)
})

test('what somebody waits for goes first, for a moment', async () => {
  const { warmed, first, ask, pass } = setUp()
  for (const question of ['a', 'a', 'b', 'b']) ask(question)
  await pass(warmAgainMs - warmCheckMs)
  let answer: (() => void) | undefined
  const begin = () => first(() => new Promise<void>((resolve) => (answer = resolve)))
  const answered = begin()
  await pass(warmCheckMs + warmWaitMaxMs - 1)
  expect(warmed).toEqual([])
  answer!()
  await answered
  await pass(0)
  expect(warmed).toEqual([
    ['a', 1],
    ['b', 1],
  ])
})

test('however long an answer takes, it is read ahead all the same', async () => {
  const { warmed, aggregates, first, ask, pass } = setUp()
  for (const question of ['a', 'a', 'b', 'b']) ask(question)
  await pass(warmAgainMs + warmCheckMs)
  expect(warmed).toHaveLength(2)
  aggregates.revision = 2
  void first(() => new Promise<void>(() => {}))
  await pass(warmAgainMs + warmCheckMs)
  await pass(2 * warmWaitMaxMs)
  expect(warmed.slice(2)).toEqual([
    ['a', 2],
    ['b', 2],
  ])
})

test('a question that is read ahead is answered by what was read last, until newer aggregates have been', async () => {
  const { warmed, aggregates, slow, answeredBy, pass } = setUp()
  expect(await answeredBy('slow')).toBe(1)
  aggregates.revision = 2
  // Asked again within a short time, it is read ahead from here on.
  expect(await answeredBy('slow')).toBe(1)
  await pass(warmAgainMs + warmCheckMs)
  expect(warmed).toEqual([['slow', 2]])
  expect(await answeredBy('slow')).toBe(1)
  slow.end!()
  await pass(0)
  expect(await answeredBy('slow')).toBe(2)
  // Nor is it read ahead again for having been asked meanwhile.
  await pass(warmAgainMs + warmCheckMs)
  expect(warmed).toHaveLength(1)
})

test('one that is asked for the first time in a while, that can’t be read ahead, or isn’t for long, is answered by the newest', async () => {
  const { aggregates, slow, answeredBy, pass } = setUp()
  for (const question of ['a', 'fails', 'slow']) {
    await answeredBy(question)
    await answeredBy(question)
  }
  await pass(warmAgainMs + warmCheckMs)
  aggregates.revision = 2
  expect(await answeredBy('fails')).toBe(2)
  aggregates.committedAt = warmedAgeMaxMs
  expect(await answeredBy('slow')).toBe(2)
  slow.end!()
  await pass(warmedForMs + warmCheckMs)
  aggregates.revision = 3
  expect(await answeredBy('a')).toBe(3)
})

test('a Postgres that was put back to an earlier state is believed', async () => {
  const { aggregates, answeredBy } = setUp()
  aggregates.revision = 9
  await answeredBy('a')
  await answeredBy('a')
  aggregates.revision = 5
  expect(await answeredBy('a')).toBe(5)
})
