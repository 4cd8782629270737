/** What rows at hand add to an aggregate table is what the table's SQL counts of the same rows. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { compareTexts, type MergedRow, MergedRows } from '../../clickhouse/aggregates/aggregate-rows.ts'
import {
  alikeRowsOf,
  allOf,
  countRows,
  readAlikeRows,
  readRows,
  rowsBetween,
  rowsCounted,
} from '../../clickhouse/aggregates/rows-at-hand.ts'
import { inOrder, pickBetween } from '../../clickhouse/aggregates/rows-in-order.ts'
import {
  type AggregateTable,
  aggregateTables,
  countedColumns,
  keysOfEvent,
} from '../../clickhouse/aggregates/tables.ts'
import { readPlaces } from '../../clickhouse/queries/overview/united.ts'
import { vitalNames } from '../../schemas/reference/web-vitals.ts'
import { insertEventRows, makeEventRow } from '../support/event-rows.ts'
import { freshStores, type TestStores } from '../support/stores.ts'

const kinds = ['pageview', 'custom', 'web_vital', 'page_leave', 'identify', 'conversion'] as const
const values = [
  0, 1e-7, 0.05, 0.1, 0.10001, 0.25, 1, 7.7, 99.99, 100, 200, 200.4, 499, 500, 1800, 2500, 2500.1, 123456.7, 1e6,
]

let stores: TestStores
beforeAll(async () => {
  stores = await freshStores()
  const rows = Array.from({ length: 400 }, (_, at) =>
    makeEventRow({
      id: at + 1,
      kind: kinds[at % kinds.length]!,
      visitor: at % 7 === 0 ? 0 : { hi: 2 ** 31 + 5, lo: at % 23 },
      session: at % 31,
      path: ['/', '/a', "/it's", '/ü\\n'][at % 4]!,
      title: at % 5 === 0 ? '' : `Title ${at}`,
      metric: at % 11 === 0 ? 'none' : vitalNames[at % 4]!,
      metric_value: values[at % values.length]! * (1 + (at % 3) / 100),
      occurred_at: new Date(Date.UTC(2026, 10, 20, 12, 0, 0, at % 50)).toISOString(),
    }),
  )
  await insertEventRows(stores.ch, rows)
})
afterAll(() => stores.close())

const tables = ['agg_traffic', 'agg_pages', 'agg_vitals', 'agg_page_vitals'] as const

test.each(tables)('%s', async (name) => {
  const table = aggregateTables[name]
  const rows = (await readRows(stores.ch, { condition: '1', params: {}, max: 1000 }))!
  expect(rows).toHaveLength(400)
  const columns = Object.keys(table.columns)
  const keys = [...table.keys, 'bucket']
  const places = [true, false].map((isFirst) => ({
    sql: `SELECT ${[...keysOfEvent(table), 'toInt64(toUnixTimestamp64Milli(occurred_at) % 2) AS bucket', countedColumns(table)].join(', ')}
      FROM events WHERE ${table.events} AND id ${isFirst ? '<=' : '>'} 150 GROUP BY ${keys.join(', ')}`,
    params: {},
    isLasting: false,
  }))
  // All of it by SQL, or the newer part counted here.
  const everything = await readPlaces(stores.ch, table, places, { columns, keys })
  const older = await readPlaces(stores.ch, table, places.slice(0, 1), { columns, keys })
  const isOdd = (at: number) => at % 2
  const newer = alikeRowsOf(rows.filter(({ id }) => id > 150))
  const readWhere = async (condition: string, params = {}) => {
    const read = (await readAlikeRows(stores.ch, { condition, params, max: 250 }))!
    expect(countRows(read)).toBe(250)
    return read
  }
  // Parameters that don't fit a URL go another way, and so does the answer.
  const manyIds = Array.from({ length: 10_000 }, (_, at) => 151 + at)
  const newerRead = await readWhere('id > 150')
  const listedRead = await readWhere('id IN {ids:Array(UInt64)}', { ids: manyIds })
  const figuresOf = ({ all }: MergedRows) =>
    all
      .map((row) => [...Object.values(row.keys), ...columns.map((column) => figureOf(row, column, table))])
      .sort((one, other) => compareTexts(JSON.stringify(one), JSON.stringify(other)))
  const expected = figuresOf(everything)
  expect(expected.length).toBeGreaterThan(1)
  for (const some of [newer, newerRead, listedRead]) {
    expect(figuresOf(older.with(rowsCounted(table, allOf(some), columns, isOdd)))).toEqual(expected)
  }
  const all = alikeRowsOf(rows)
  expect(figuresOf(new MergedRows(rowsCounted(table, allOf(all), columns, isOdd)))).toEqual(expected)
  // Divided by time, the parts come to the same.
  const middle = Date.UTC(2026, 10, 20, 12, 0, 0, 20)
  const ordered = inOrder(allOf(all))
  for (const halves of [
    [rowsBetween(all, 0, middle), rowsBetween(all, middle, Number.POSITIVE_INFINITY)],
    [pickBetween(ordered, 0, middle), pickBetween(ordered, middle, Number.POSITIVE_INFINITY)],
  ]) {
    expect(halves.map(({ length }) => length)).not.toContain(0)
    const parts = halves.flatMap((half) => rowsCounted(table, half, columns, isOdd))
    expect(figuresOf(new MergedRows(parts))).toEqual(expected)
  }
})

function figureOf(row: MergedRow, column: string, { columns }: AggregateTable): unknown {
  const { form } = columns[column]!
  if (form === 'distribution') return row.distribution(column).pairs
  if (form === 'sum') return Math.round(row.sum(column) * 1000)
  if (form !== 'newest') return row.count(column)
  const [at, id, value] = row.newest(column)
  return id === 0 ? 'none' : [at, id, value]
}

test('more rows than are wanted are none at hand', async () => {
  const wanted = { condition: '1', params: {}, max: 399 }
  expect(await readRows(stores.ch, wanted)).toBeUndefined()
  expect(await readAlikeRows(stores.ch, wanted)).toBeUndefined()
})
