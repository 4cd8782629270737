import { expect, test } from 'vitest'
import type { ClickHouse } from '../../clickhouse/client.ts'
import { gatherStatements } from '../../clickhouse/queries/gather.ts'
import type { QueryOptions } from '../../clickhouse/query-options.ts'

interface Row {
  readonly workspace_id: number
  readonly letter: string
}

const ofWorkspace = { parameter: 'workspaces', column: 'workspace_id' }
const each = { parameter: 'letters', column: 'letter' }

/** Of every workspace, a row of each letter that is asked for. */
function setUp() {
  const asked: [sql: string, params: Record<string, unknown>][] = []
  const query = async (sql: string, params: Record<string, unknown> = {}) => {
    asked.push([sql, params])
    if (sql === 'fails') throw new Error('too much')
    const { workspaces, letters } = params as { workspaces: readonly number[]; letters: readonly string[] }
    return workspaces.flatMap((workspace_id) => letters.map((letter) => ({ workspace_id, letter })))
  }
  const reader = gatherStatements({ query } as Pick<ClickHouse, 'query'>)
  const ask = (workspace: number, letters: string, { sql = 'sums', day = 1, options = {} as QueryOptions<Row> } = {}) =>
    reader.query<Row>(
      sql,
      { workspaces: [workspace], letters: [...letters], day },
      { ofWorkspace, each, isAhead: true, ...options },
    )
  return { asked, ask, reader }
}

test('the same question for several workspaces goes out once, and each gets its own rows', async () => {
  const { asked, ask } = setUp()
  const rows = await Promise.all([ask(1, 'ab'), ask(2, 'bc'), ask(3, 'ab')])
  expect(asked).toEqual([['sums', { workspaces: [1, 2, 3], letters: ['a', 'b', 'c'], day: 1 }]])
  expect(rows.map((some) => [...new Set(some.map(({ workspace_id }) => workspace_id))])).toEqual([[1], [2], [3]])
  for (const some of rows) expect(some.map(({ letter }) => letter)).toEqual(['a', 'b', 'c'])
})

test('what differs in more than whose it is, and in the texts, goes out apart', async () => {
  const { asked, ask } = setUp()
  const settings = { max_threads: 2 }
  await Promise.all([
    ask(1, 'a'),
    ask(2, 'a', { sql: 'counts' }),
    ask(3, 'a', { day: 2 }),
    ask(4, 'a', { options: { settings } }),
    ask(5, 'b'),
  ])
  expect(asked).toEqual([
    ['sums', { workspaces: [1, 5], letters: ['a', 'b'], day: 1 }],
    ['counts', { workspaces: [2], letters: ['a'], day: 1 }],
    ['sums', { workspaces: [3], letters: ['a'], day: 2 }],
    ['sums', { workspaces: [4], letters: ['a'], day: 1 }],
  ])
})

test('what comes later goes out by itself, and so does what doesn’t say whose its rows are', async () => {
  const { asked, ask, reader } = setUp()
  await ask(1, 'a')
  await ask(2, 'a')
  await Promise.all([1, 2].map((workspace) => reader.query('sums', { workspaces: [workspace], letters: ['a'] })))
  expect(asked.map(([, { workspaces }]) => workspaces)).toEqual([[1], [2], [1], [2]])
})

test('where it fails, all who asked hear so, and it is asked again the next time', async () => {
  const { asked, ask } = setUp()
  const answers = await Promise.allSettled([1, 2].map((workspace) => ask(workspace, 'a', { sql: 'fails' })))
  expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  await expect(ask(1, 'a', { sql: 'fails' })).rejects.toThrow('too much')
  expect(asked).toHaveLength(2)
})
