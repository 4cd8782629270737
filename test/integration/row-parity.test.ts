import { expect, test } from 'vitest'
import { cellColumns } from '../../clickhouse/rollups/cells.ts'
import { creditColumns, sessionColumns, visitorColumns } from '../../clickhouse/rollups/tables.ts'
import { type StreamName, streams } from '../../schemas/event/row.ts'
import { setUpStores } from '../support/stores.ts'

const stores = setUpStores()

/** Columns that are written: the others are made of these. And how the table was made. */
async function look(table: string, ...made: string[]) {
  const described = await stores.ch.query<{ name: string; type: string; default_type: string }>(
    `DESCRIBE TABLE ${table}`,
  )
  const [row] = await stores.ch.query<{ create: string }>(
    'SELECT create_table_query AS create FROM system.tables WHERE database = currentDatabase() AND name = {table:String}',
    { table },
  )
  return { columns: described.filter(({ default_type }) => !made.includes(default_type)), create: row!.create }
}

test('each table syncs what it stores and merges', async () => {
  const syncs = ['fsync_after_insert = 1', 'fsync_part_directory = 1', 'min_rows_to_fsync_after_merge = 1']
  const made = await stores.ch.query<{ name: string; create: string }>(
    `SELECT name, create_table_query AS create FROM system.tables
     WHERE database = currentDatabase() AND engine LIKE '%MergeTree' AND name != 'schema_migrations'`,
  )
  expect(made.length).toBeGreaterThan(7)
  for (const setting of syncs) expect(made.filter(({ create }) => !create.includes(setting))).toEqual([])
})
const byName = (left: { name: string }, right: { name: string }) => (left.name < right.name ? -1 : 1)

test.each(Object.keys(streams) as StreamName[])(
  'rows of %s have exactly the columns of their table, of types with the same bytes; it remembers tokens',
  async (stream) => {
    const { columns, create } = await look(stream, 'DEFAULT', 'ALIAS')
    const typed = columns.map(({ name, type }) => ({
      name,
      type: type.replace(/^LowCardinality\((.*)\)$/, '$1').replace(/^Enum8\(.*\)$/, 'UInt8'),
    }))
    expect(typed.sort(byName)).toEqual([...streams[stream].columns].sort(byName))
    expect(create).toContain('non_replicated_deduplication_window = 10000')
  },
)

test.each([
  ['sessions', sessionColumns],
  ['visitors', visitorColumns],
  ['credits', creditColumns],
  ['cells', cellColumns],
])('derived rows of %s have exactly the columns of their table', async (table, names) => {
  const { columns, create } = await look(table, 'MATERIALIZED', 'ALIAS')
  expect([...names].sort()).toEqual(columns.map(({ name }) => name).sort())
  const settings = ['ReplacingMergeTree(version)', 'non_replicated_deduplication_window = 1000']
  for (const setting of settings) expect(create).toContain(setting)
})
