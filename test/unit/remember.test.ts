import { expect, test } from 'vitest'
import type { ClickHouse } from '../../clickhouse/client.ts'
import { rememberLasting } from '../../clickhouse/queries/remember.ts'
import { rememberedAnswerBytesMax } from '../../schemas/limits.ts'

function setUp() {
  const asked: string[] = []
  const query: ClickHouse['query'] = async <Row>(sql: string): Promise<Row[]> => {
    asked.push(sql)
    if (sql === 'fail') throw new Error('away')
    if (sql === 'large') return [{ set: { size: rememberedAnswerBytesMax } }] as Row[]
    return [asked.length] as Row[]
  }
  return { asked, reader: rememberLasting({ query }) }
}

test('a lasting question goes out once, any other every time', async () => {
  const { asked, reader } = setUp()
  const lasting = { isLasting: true }
  expect(await Promise.all([reader.query('a', { n: 1 }, lasting), reader.query('a', { n: 1 }, lasting)])).toEqual([
    [1],
    [1],
  ])
  expect(await reader.query('a', { n: 1 }, lasting)).toEqual([1])
  expect(await reader.query('a', { n: 2 }, lasting)).toEqual([2])
  expect(await reader.query('a', { n: 1 })).toEqual([3])
  expect(asked).toHaveLength(3)
})

test('a failure is not remembered', async () => {
  const { asked, reader } = setUp()
  await expect(reader.query('fail', {}, { isLasting: true })).rejects.toThrow('away')
  await expect(reader.query('fail', {}, { isLasting: true })).rejects.toThrow('away')
  expect(asked).toHaveLength(2)
})

test('an answer that is too large is given, and not remembered', async () => {
  const { asked, reader } = setUp()
  for (const times of [1, 2]) {
    expect(await reader.query('large', {}, { isLasting: true })).toHaveLength(1)
    expect(asked).toHaveLength(times)
  }
})
