import { describe, expect, it } from 'vitest'
import { cellColumns } from '../../clickhouse/rollups/cells.ts'
import { creditColumns, sessionColumns, visitorColumns } from '../../clickhouse/rollups/tables.ts'
import { type StreamName, streams } from '../../schemas/event/row.ts'
import { setUpStores } from '../support/stores.ts'

const stores = setUpStores()

describe('the canonical rows', () => {
  it.each(Object.keys(streams) as StreamName[])(
    'have exactly the columns that are written into the table %s, of types with the same bytes',
    async (stream) => {
      const described = await stores.ch.query<{ name: string; type: string; default_type: string }>(
        `DESCRIBE TABLE ${streams[stream].table}`,
      )
      // The others are made of these.
      const written = described.filter(({ default_type }) => default_type !== 'DEFAULT' && default_type !== 'ALIAS')
      const columns = written.map(({ name, type }) => ({
        name,
        type: type.replace(/^LowCardinality\((.*)\)$/, '$1').replace(/^Enum8\(.*\)$/, 'UInt8'),
      }))
      const byName = (left: { name: string }, right: { name: string }) => (left.name < right.name ? -1 : 1)
      expect(columns.sort(byName)).toEqual([...streams[stream].columns].sort(byName))
    },
  )

  it.each(Object.keys(streams) as StreamName[])(
    'go into a table %s that syncs and remembers tokens',
    async (stream) => {
      const [row] = await stores.ch.query<{ create: string }>(
        'SELECT create_table_query AS create FROM system.tables WHERE database = currentDatabase() AND name = {name:String}',
        { name: streams[stream].table },
      )
      for (const setting of [
        'fsync_after_insert = 1',
        'fsync_part_directory = 1',
        'min_rows_to_fsync_after_merge = 1',
      ]) {
        expect(row!.create).toContain(setting)
      }
      expect(row!.create).toContain('non_replicated_deduplication_window = 10000')
    },
  )
})

describe('the derived rows', () => {
  it.each([
    ['sessions', sessionColumns],
    ['visitors', visitorColumns],
    ['credits', creditColumns],
    ['cells', cellColumns],
  ])('of the table %s have exactly its columns, and the table syncs', async (table, columns) => {
    const described = await stores.ch.query<{ name: string; default_type: string }>(`DESCRIBE TABLE ${table}`)
    // The others are made of these.
    const written = described.filter(({ default_type }) => default_type !== 'MATERIALIZED')
    expect([...columns].sort()).toEqual(written.map(({ name }) => name).sort())
    const [row] = await stores.ch.query<{ create: string }>(
      'SELECT create_table_query AS create FROM system.tables WHERE database = currentDatabase() AND name = {table:String}',
      { table },
    )
    expect(row!.create).toContain('ReplacingMergeTree(version)')
    for (const setting of [
      'fsync_after_insert = 1',
      'fsync_part_directory = 1',
      'min_rows_to_fsync_after_merge = 1',
      'non_replicated_deduplication_window = 1000',
    ]) {
      expect(row!.create).toContain(setting)
    }
  })
})
