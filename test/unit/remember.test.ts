import { describe, expect, test } from 'vitest'
import type { ClickHouse } from '../../clickhouse/client.ts'
import { rememberLasting } from '../../clickhouse/queries/remember.ts'
import type { Content } from '../../clickhouse/query-options.ts'
import { rememberedAnswerBytesMax, rememberedBytesMax } from '../../schemas/limits.ts'

function setUp() {
  const asked: string[] = []
  const query: ClickHouse['query'] = async <Row>(sql: string): Promise<Row[]> => {
    asked.push(sql)
    if (sql === 'fail') throw new Error('away')
    if (sql === 'large') return [{ set: { memory: [[{}, rememberedAnswerBytesMax]] } }] as Row[]
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
  const each = { parameter: 'letters', column: 'letter' }
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

describe('of a question about generations', () => {
  /** Of each generation, what it holds, and a row of each letter. */
  const content = (generation: number, newest = generation, parts = 1): Content => ({ generation, newest, parts })

  function setUpGrowing() {
    const asked: [generations: readonly number[], letters: readonly string[]][] = []
    const query = async (_: string, params: Record<string, unknown> = {}) => {
      const { generations, letters } = params as { generations: readonly number[]; letters: readonly string[] }
      asked.push([generations, letters])
      return letters.map((letter) => ({ letter, sum: generations.reduce((sum, one) => sum + one, 0) }))
    }
    const reader = rememberLasting({ query } as Pick<ClickHouse, 'query'>)
    const merge = (rows: readonly { letter: string; sum: number }[]) => [
      { letter: rows[0]!.letter, sum: rows.reduce((sum, row) => sum + row.sum, 0) },
    ]
    /** The sums of the letters, and what was asked for them. */
    const ask = async (generations: readonly Content[], letters: readonly string[] = ['a']) => {
      asked.length = 0
      const rows = await reader.query<{ letter: string; sum: number }>(
        'sums',
        { generations: generations.map(({ generation }) => generation), letters },
        {
          isLasting: true,
          each: { parameter: 'letters', column: 'letter' },
          growing: { parameter: 'generations', generations, merge },
        },
      )
      expect(rows.map(({ letter }) => letter)).toEqual(letters)
      return { sums: rows.map(({ sum }) => sum), asked: [...asked] }
    }
    return ask
  }

  test('those that came since go out, and are added to what is known of the others', async () => {
    const ask = setUpGrowing()
    expect(await ask([content(1), content(2)])).toEqual({ sums: [3], asked: [[[1, 2], ['a']]] })
    expect(await ask([content(1), content(2)])).toEqual({ sums: [3], asked: [] })
    expect(await ask([content(1), content(2), content(4)])).toEqual({ sums: [7], asked: [[[4], ['a']]] })
    // Merged, the first two are the same.
    expect(await ask([content(4), content(3, 2, 2)])).toEqual({ sums: [7], asked: [] })
    expect(await ask([content(4), content(3, 2, 2), content(8)])).toEqual({ sums: [15], asked: [[[8], ['a']]] })
  })

  test('an older list finds what was known of it before newer ones were read, and it alone', async () => {
    const ask = setUpGrowing()
    const lists = [1, 2, 4].map((_, at) => [1, 2, 4].slice(0, at + 1).map((generation) => content(generation)))
    for (const list of lists) await ask(list)
    for (const at of [1, 2, 1]) expect(await ask(lists[at]!)).toEqual({ sums: [2 ** (at + 1) - 1], asked: [] })
    expect((await ask(lists[0]!)).asked).toEqual([[[1], ['a']]])
    // The answer to it is no reason to ask anew for the newest.
    expect((await ask(lists[2]!)).asked).toEqual([])
    expect(await ask([...lists[2]!, content(8)])).toEqual({ sums: [15], asked: [[[8], ['a']]] })
  })

  test('a text of which nothing is known is asked for with all generations', async () => {
    const ask = setUpGrowing()
    await ask([content(1), content(2)], ['a'])
    const { sums, asked } = await ask([content(1), content(2), content(4)], ['a', 'b'])
    expect(sums).toEqual([7, 7])
    expect(asked).toEqual([
      [[4], ['a']],
      [[1, 2, 4], ['b']],
    ])
  })

  test('texts of which more and less is known are asked for apart', async () => {
    const ask = setUpGrowing()
    await ask([content(1), content(2)], ['b'])
    await ask([content(1), content(2), content(4)], ['a'])
    const { sums, asked } = await ask([content(1), content(2), content(4), content(8)], ['a', 'b', 'c'])
    expect(sums).toEqual([15, 15, 15])
    expect(asked).toEqual([
      [[8], ['a']],
      [[4, 8], ['b']],
      [[1, 2, 4, 8], ['c']],
    ])
  })

  test('texts that were asked for before are kept up with those of which as much is known', async () => {
    const ask = setUpGrowing()
    await ask([content(1), content(2)], ['a', 'b'])
    expect(await ask([content(1), content(2), content(4)], ['b'])).toEqual({ sums: [7], asked: [[[4], ['b', 'a']]] })
    expect(await ask([content(1), content(2), content(4)], ['a'])).toEqual({ sums: [7], asked: [] })
    // Of the one that has just come, nothing is known; the others wait until one of them is wanted.
    expect((await ask([content(1), content(2), content(4), content(8)], ['c'])).asked).toEqual([[[1, 2, 4, 8], ['c']]])
    expect(await ask([content(1), content(2), content(4), content(8)], ['c', 'a'])).toEqual({
      sums: [15, 15],
      asked: [[[8], ['a', 'b']]],
    })
  })

  test.each([
    { what: 'one was computed anew', now: [content(2), content(4)] },
    { what: 'one was computed anew, and merged with others', now: [content(7, 4, 2)] },
    { what: 'one was merged with what came since', now: [content(1), content(6, 4, 2)] },
    { what: 'one is gone', now: [content(2)] },
    { what: 'it is an older list', now: [content(1)] },
  ])('all are asked for where $what', async ({ now }) => {
    const ask = setUpGrowing()
    await ask([content(1), content(2)])
    const generations = now.map(({ generation }) => generation)
    const sum = generations.reduce((all, one) => all + one, 0)
    expect(await ask(now)).toEqual({ sums: [sum], asked: [[generations, ['a']]] })
  })
})

test('a failure is not remembered', async () => {
  const { asked, reader } = setUp()
  await expect(reader.query('fail', {}, { isLasting: true })).rejects.toThrow('away')
  await expect(reader.query('fail', {}, { isLasting: true })).rejects.toThrow('away')
  expect(asked).toHaveLength(2)
})

test('what two moments share of an answer takes its room once', async () => {
  let times = 0
  const shared: object = {}
  const query = async () => [
    { set: { memory: [[shared, Math.floor(0.6 * rememberedAnswerBytesMax)]] }, times: ++times },
  ]
  const reader = rememberLasting({ query } as unknown as Pick<ClickHouse, 'query'>)
  const generations = [1, 2].map((generation): Content => ({ generation, newest: generation, parts: 1 }))
  const ask = (listed: readonly Content[]) =>
    reader.query(
      'sets',
      { generations: listed.map(({ generation }) => generation) },
      { isLasting: true, growing: { parameter: 'generations', generations: listed, merge: (rows) => rows.slice(-1) } },
    )
  for (const count of [1, 2, 1, 2]) await ask(generations.slice(0, count))
  expect(times).toBe(2)
})

test('whoever waits doesn’t wait for what is read ahead, but that waits for an answer to the same', async () => {
  const ends: ((rows: string[]) => void)[] = []
  const query = () => new Promise<string[]>((resolve) => ends.push(resolve))
  const reader = rememberLasting({ query } as unknown as Pick<ClickHouse, 'query'>)
  const ask = async (sql: string, isAhead: boolean) => {
    const answer = reader.query<string>(sql, {}, { isLasting: true, isAhead })
    await new Promise((resolve) => setTimeout(resolve, 5))
    return { answer }
  }
  const [ahead, awaited] = [await ask('a', true), await ask('a', false)]
  expect(ends).toHaveLength(2)
  ends[1]!(['awaited'])
  expect(await awaited.answer).toEqual(['awaited'])
  ends[0]!(['ahead'])
  expect(await ahead.answer).toEqual(['ahead'])

  const both = [await ask('b', false), await ask('b', true)]
  expect(ends).toHaveLength(3)
  ends[2]!(['once'])
  for (const { answer } of both) expect(await answer).toEqual(['once'])
})

test('what there is no room for is forgotten, that which was longest unused first, and counted', async () => {
  let [asked, forgotten] = [0, 0]
  const query = async () => {
    asked++
    return [{ set: { memory: [[{}, rememberedAnswerBytesMax / 2]] } }]
  }
  const reader = rememberLasting({ query } as unknown as Pick<ClickHouse, 'query'>, () => forgotten++)
  const ask = (number: number) => reader.query('sets', { number }, { isLasting: true })
  const room = Math.floor(rememberedBytesMax / (rememberedAnswerBytesMax / 2))
  for (let number = 0; number < room - 1; number++) await ask(number)
  await ask(0)
  expect([asked, forgotten]).toEqual([room - 1, 0])
  for (const number of [room, room + 1]) await ask(number)
  expect(forgotten).toBeGreaterThan(0)
  await ask(0)
  expect(asked).toBe(room + 1)
  await ask(1)
  expect(asked).toBe(room + 2)
})

test('an answer that is too large is given, and not remembered', async () => {
  const { asked, reader } = setUp()
  for (const times of [1, 2]) {
    expect(await reader.query('large', {}, { isLasting: true })).toHaveLength(1)
    expect(asked).toHaveLength(times)
  }
})
