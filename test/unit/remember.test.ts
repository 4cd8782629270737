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

test('of a question about several texts only those go out of which nothing is known', async () => {
  const asked: (readonly string[])[] = []
  const rows = ['a', 'b', 'b', 'd'].map((letter, at) => ({ letter, at }))
  const query = async (_: string, params: Record<string, unknown> = {}) => {
    const letters = params['letters'] as string[]
    asked.push(letters)
    return rows.filter(({ letter }) => letters.includes(letter))
  }
  const reader = rememberLasting({ query } as Pick<ClickHouse, 'query'>)
  const each = { parameter: 'letters', of: ({ letter }: { letter: string }) => letter }
  const ask = (letters: readonly string[], isLasting = true) =>
    reader.query<{ letter: string }>('letters', { letters }, { isLasting, each })

  expect(await ask(['a', 'b', 'c'])).toEqual(rows.slice(0, 3))
  expect(await ask(['b', 'c', 'd'])).toEqual(rows.slice(1))
  // The same answer, and not only an equal one: what was made of it is known by it.
  expect(await ask(['b', 'c', 'd'])).toBe(await ask(['b', 'c', 'd']))
  expect(await ask(['d', 'a'])).toEqual([rows[3], rows[0]])
  expect(asked).toEqual([['a', 'b', 'c'], ['d']])
  await ask(['a'], false)
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
