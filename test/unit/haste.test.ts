import { expect, test } from 'vitest'
import type { ClickHouse } from '../../clickhouse/client.ts'
import type { QueryOptions } from '../../clickhouse/query-options.ts'
import { heavyStatement } from '../../pipeline/aggregate/attempt.ts'
import { inHaste, isLate } from '../../pipeline/aggregate/haste.ts'
import { aggregateEveryMs, aggregateRowsPerRun, backgroundNiceness } from '../../schemas/limits.ts'

test('a run is late after the longest pause, where many rows come', () => {
  const [many, long] = [aggregateRowsPerRun + 1, aggregateEveryMs + 1]
  expect(isLate({ rowsOfLast: many, sinceLastMs: long })).toBe(true)
  expect(isLate({ rowsOfLast: many, sinceLastMs: aggregateEveryMs })).toBe(false)
  expect(isLate({ rowsOfLast: aggregateRowsPerRun, sinceLastMs: long })).toBe(false)
})

test('in haste its statements are what they were, but don’t give way', async () => {
  const asked: (QueryOptions | undefined)[] = []
  const note = async (_sql: string, _params?: Record<string, unknown>, options?: QueryOptions<never>) => {
    asked.push(options)
    return []
  }
  const ch = inHaste({ query: note, command: note } as unknown as ClickHouse)
  await ch.query('SELECT 1', {}, heavyStatement)
  await ch.command('OPTIMIZE TABLE events', {}, heavyStatement)
  await ch.query('SELECT 1')
  expect(heavyStatement.settings!['os_thread_priority']).toBe(backgroundNiceness)
  const settings = { ...heavyStatement.settings, os_thread_priority: 0 }
  expect(asked).toEqual([
    { ...heavyStatement, settings },
    { ...heavyStatement, settings },
    { settings: { os_thread_priority: 0 } },
  ])
})
