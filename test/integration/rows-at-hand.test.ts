/** What rows at hand add to an aggregate table is what the table's SQL counts of the same rows. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { constantSql, readRows } from '../../clickhouse/aggregates/rows-at-hand.ts'
import { aggregateTables, countedColumns, keysOfEvent } from '../../clickhouse/aggregates/tables.ts'
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
  const rows = (await readRows(stores.ch, '1', {}, 1000))!
  expect(rows).toHaveLength(400)
  const columns = Object.keys(table.columns)
  const shown = columns.map(
    (column) => `toString(${table.columns[column]!.shown.replaceAll('?', column)}) AS ${column}_`,
  )
  const keys = [...table.keys, 'bucket']
  const bucketOf = (row: { at: number }) => row.at % 2
  const given = constantSql(table, rows, { columns, name: 'test', bucketOf })!
  const counted = `SELECT ${[...keysOfEvent(table), 'toInt64(toUnixTimestamp64Milli(occurred_at) % 2) AS bucket', countedColumns(table)].join(', ')}
    FROM events WHERE ${table.events} GROUP BY ${keys.join(', ')}`
  const ask = (from: string, params = {}) =>
    stores.ch.query(
      `SELECT ${keys.map((key) => `toString(${key}) AS ${key}_`).join(', ')}, ${shown.join(', ')}
       FROM (${from}) GROUP BY ${keys.join(', ')} ORDER BY ${keys.map((key) => `toString(${key})`).join(', ')}`,
      params,
    )
  const expected = await ask(counted)
  expect(expected.length).toBeGreaterThan(1)
  expect(await ask(given.sql, given.params)).toEqual(expected)
})

test('more rows than are wanted are none at hand', async () => {
  expect(await readRows(stores.ch, '1', {}, 399)).toBeUndefined()
})
