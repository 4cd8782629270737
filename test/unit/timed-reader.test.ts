import { expect, test } from 'vitest'
import { makeTimedReaders } from '../../api/operations/timed-reader.ts'
import type { ClickHouse } from '../../clickhouse/client.ts'
import {
  clickhouseShareOfAnswer,
  longAnswersMax,
  longClickhouseShareOfAnswer,
} from '../../schemas/limits/store-limits.ts'

const answerDeadlineMs = 1_000_000

function makeReaders() {
  const given: number[] = []
  const query: ClickHouse['query'] = async (_sql, _params, options) => {
    // The test itself takes less than the rest.
    given.push(Math.ceil((10 * options!.deadlineMs!) / answerDeadlineMs) / 10)
    return []
  }
  return { open: makeTimedReaders({ query }, answerDeadlineMs), given }
}

test('a few reads at a time have long, others and changes as long as a store that hangs', async () => {
  const { open, given } = makeReaders()
  const readers = Array.from({ length: longAnswersMax + 1 }, () => open(true))
  // Two statements of a call share its place.
  for (const reader of [open(false), ...readers, readers[0]!]) await reader.query('SELECT 1')
  const long = Array(longAnswersMax).fill(longClickhouseShareOfAnswer)
  const short = clickhouseShareOfAnswer
  expect(given).toEqual([short, ...long, short, longClickhouseShareOfAnswer])
})

test('a call that is over gives its place to another, once', async () => {
  const { open, given } = makeReaders()
  const readers = Array.from({ length: longAnswersMax }, () => open(true))
  for (const reader of readers) await reader.query('SELECT 1')
  // One that asked nothing has no place.
  open(true).end()
  readers[0]!.end()
  readers[0]!.end()
  for (let time = 0; time < 2; time++) await open(true).query('SELECT 1')
  expect(given.slice(longAnswersMax)).toEqual([longClickhouseShareOfAnswer, clickhouseShareOfAnswer])
})
