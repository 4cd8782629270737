import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ClickHouse, connectClickHouse } from '../../clickhouse/client.ts'
import { migrateClickHouse } from '../../clickhouse/migrate.ts'
import { connectPostgres } from '../../postgres/client.ts'
import { migratePostgres } from '../../postgres/migrate.ts'
import { pendingMigrations, readMigrations, splitStatements } from '../../runtime/migrations.ts'
import { projectFile } from '../../runtime/paths.ts'
import { freshStores, type TestStores } from '../support/stores.ts'

let stores: TestStores
beforeAll(async () => {
  stores = await freshStores()
})
afterAll(() => stores?.close())

const first = { name: '0001_a.sql', sql: '', checksum: 'a' }
const second = { name: '0002_b.sql', sql: '', checksum: 'b' }

test('runs only what has not run, and refuses a store that ran something else', () => {
  expect(pendingMigrations([first, second], [first])).toEqual([second])
  expect(() => pendingMigrations([first], [{ ...first, checksum: 'x' }])).toThrow(/changed after/)
  expect(() => pendingMigrations([first], [first, second])).toThrow(/doesn't know/)
  expect(() => pendingMigrations([first, second], [second])).toThrow(/next number/)
})

test('splits a file at the semicolons that end lines, and keeps comments out of it', () => {
  expect(splitStatements("-- why; not\nSELECT ';' AS a;\n\n-- end\n")).toEqual(["-- why; not\nSELECT ';' AS a"])
})

test('migrates an empty Postgres from several processes at once, each migration once', async () => {
  const [{ name }] = (await stores.pg.query<{ name: string }>('SELECT current_database() AS name')) as [
    { name: string },
  ]
  const empty = `${name}_empty`
  await stores.pg.query(`CREATE DATABASE ${empty}`)
  const url = stores.databaseUrl.replace(name, empty)
  const clients = [1, 2, 3].map(() => connectPostgres(url, { max: 2 }))
  const ran = await Promise.all(clients.map((pg) => migratePostgres(pg)))
  const all = readMigrations(projectFile('postgres/migrations')).map((migration) => migration.name)
  expect(ran.flat().sort()).toEqual(all)
  expect(await migratePostgres(clients[0]!)).toEqual([])
  for (const pg of clients) await pg.close()
  await stores.pg.query(`DROP DATABASE ${empty} WITH (FORCE)`)
})

test('every ClickHouse statement can be repeated: a kill between it and its record harms nothing', async () => {
  const ch = connectClickHouse(`${stores.clickhouseUrl}_empty`)
  const all = await migrateClickHouse(ch)
  expect(all.length).toBeGreaterThan(0)
  await ch.command('TRUNCATE TABLE schema_migrations')
  expect(await migrateClickHouse(ch)).toEqual(all)
  await ch.command(`DROP DATABASE IF EXISTS \`${new URL(stores.clickhouseUrl).pathname.slice(1)}_empty\``)
  await ch.close()
})

test('a test’s own database, whose tables are copied, is as migrations make one', async () => {
  const ch = connectClickHouse(`${stores.clickhouseUrl}_migrated`)
  await migrateClickHouse(ch)
  const tablesOf = ({ query }: ClickHouse) =>
    query(`SELECT name, replace(create_table_query, concat(currentDatabase(), '.'), '') AS made,
        (SELECT count() FROM schema_migrations) AS migrations
      FROM system.tables WHERE database = currentDatabase() ORDER BY name`)
  expect(await tablesOf(stores.ch)).toEqual(await tablesOf(ch))
  await ch.command(`DROP DATABASE \`${new URL(stores.clickhouseUrl).pathname.slice(1)}_migrated\``)
  await ch.close()
})

test('a database that began in an earlier order keeps it and its rows, and is like a new one in all else', async () => {
  const ch = connectClickHouse(`${stores.clickhouseUrl}_earlier`)
  await beginEarlier(ch)
  const insert = (first: number) =>
    ch.command(`INSERT INTO events (id, workspace_id, occurred_at, received_at, path, title, client_event_id)
      SELECT number, 7, '2026-11-20 10:00:00.123', fromUnixTimestamp64Milli(1795168800123 + number), '/a', 'A', toString(number)
      FROM numbers(${first}, 10000)`)
  await insert(1)
  const read = () =>
    ch.query(`SELECT count() AS rows, sum(id) AS ids, min(occurred_at) AS at, groupUniqArray(path) AS paths,
      groupUniqArray(title) AS titles, uniqExact(client_event_id) AS sent FROM events`)
  const before = await read()

  expect(await migrateClickHouse(ch)).not.toContain('0001_events.sql')
  expect(await read()).toEqual(before)
  await ch.command('OPTIMIZE TABLE events FINAL')
  expect(await read()).toEqual(before)

  expect(await orderOfEvents(ch)).toBe('workspace_id, toStartOfHour(occurred_at), kind, visitor, occurred_at')
  expect(await orderOfEvents(stores.ch)).toBe('workspace_id, toStartOfHour(occurred_at), visitor, occurred_at')
  const arrivals = () => ch.query('SELECT id, toUnixTimestamp64Milli(arrived_at) - id AS base FROM events ORDER BY id')
  const bases = (count: number) => Array.from({ length: count }, (_, at) => ({ id: at + 1, base: 1795168800123 }))
  expect(await arrivals()).toEqual(bases(10_000))
  for (const statement of timesOfReceipt()) await ch.command(statement)
  await insert(10_001)
  expect(await arrivals()).toEqual(bases(20_000))
  await ch.command('OPTIMIZE TABLE events FINAL')
  expect(await arrivals()).toEqual(bases(20_000))
  expect(await describeTables(ch)).toEqual(await describeTables(stores.ch))
  await ch.command(`DROP DATABASE IF EXISTS \`${new URL(stores.clickhouseUrl).pathname.slice(1)}_earlier\``)
  await ch.close()
})

/** What operators are told to send for times of receipt as newer databases have them. */
function timesOfReceipt(): string[] {
  const blocks = readFileSync(projectFile('docs/operations.md'), 'utf8').matchAll(/```sql\n(.*?)```/gs)
  return splitStatements([...blocks].find(([, sql]) => sql!.includes('receive_delay_ms'))![1]!)
}

/** As the version that had only the first migration left it. */
async function beginEarlier(ch: ClickHouse): Promise<void> {
  const { name, sql, checksum } = readMigrations(projectFile('clickhouse/migrations'))[0]!
  await ch.createDatabase()
  await ch.command(
    'CREATE TABLE schema_migrations (name String, checksum String, applied_at DateTime DEFAULT now()) ENGINE = MergeTree ORDER BY name',
  )
  for (const statement of splitStatements(sql)) await ch.command(statement)
  await ch.command('INSERT INTO schema_migrations (name, checksum) SELECT {name:String}, {checksum:String}', {
    name,
    checksum,
  })
}

async function orderOfEvents(ch: ClickHouse): Promise<string> {
  const [row] = await ch.query<{ sorting_key: string }>(
    `SELECT sorting_key FROM system.tables WHERE database = currentDatabase() AND name = 'events'`,
  )
  return row!.sorting_key
}

/** Columns with their codecs, indices, partitions and settings: everything but orders. */
async function describeTables(ch: ClickHouse): Promise<unknown> {
  const columns = await ch.query(
    `SELECT table, position, name, type, default_kind, default_expression, compression_codec, is_in_partition_key
     FROM system.columns WHERE database = currentDatabase() ORDER BY table, position`,
  )
  const indices = await ch.query(
    `SELECT table, name, type, expr, granularity FROM system.data_skipping_indices
     WHERE database = currentDatabase() ORDER BY table, name`,
  )
  const tables = await ch.query(
    `SELECT name, partition_key, replaceRegexpOne(engine_full, 'ORDER BY .* SETTINGS', 'SETTINGS') AS engine
     FROM system.tables WHERE database = currentDatabase() AND name != 'schema_migrations' ORDER BY name`,
  )
  return { columns, indices, tables }
}
