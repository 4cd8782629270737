import { expect, test } from 'vitest'
import type { ClickHouse } from '../../clickhouse/client.ts'
import { migrateClickHouse } from '../../clickhouse/migrate.ts'
import { migratePostgres } from '../../postgres/migrate.ts'
import { pendingMigrations, readMigrations, splitStatements } from '../../runtime/migrations.ts'
import { projectFile } from '../../runtime/paths.ts'
import { patientClickHouse, patientPostgres } from '../support/patient-clients.ts'
import { setUpStores } from '../support/stores.ts'

const stores = setUpStores()

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
  const name = new URL(stores.databaseUrl).pathname.slice(1)
  const empty = `${name}_empty`
  await stores.pg.query(`CREATE DATABASE ${empty}`)
  const url = stores.databaseUrl.replace(name, empty)
  const clients = [1, 2, 3].map(() => patientPostgres(url, { max: 2 }))
  const ran = await Promise.all(clients.map((pg) => migratePostgres(pg)))
  const all = readMigrations(projectFile('postgres/migrations')).map((migration) => migration.name)
  expect(ran.flat().sort()).toEqual(all)
  expect(await migratePostgres(clients[0]!)).toEqual([])
  for (const pg of clients) await pg.close()
  await stores.pg.query(`DROP DATABASE ${empty} WITH (FORCE)`)
})

test('a new database of another encoding than UTF-8 is refused', async () => {
  const name = new URL(stores.databaseUrl).pathname.slice(1)
  const other = `${name}_ascii`
  await stores.pg.query(
    `CREATE DATABASE ${other} ENCODING 'SQL_ASCII' LOCALE_PROVIDER libc LOCALE 'C' TEMPLATE template0`,
  )
  const pg = patientPostgres(stores.databaseUrl.replace(name, other), { max: 1 })
  await expect(migratePostgres(pg)).rejects.toThrow('has the encoding SQL_ASCII, and UTF8 is needed')
  await pg.close()
  await stores.pg.query(`DROP DATABASE ${other} WITH (FORCE)`)
})

test('ClickHouse statements can be repeated, as after a kill before their record; databases of tests are as they make one', async () => {
  const url = new URL(stores.clickhouseUrl)
  url.pathname += '_migrated'
  const ch = patientClickHouse(url.href)
  const all = await migrateClickHouse(ch)
  expect(all.length).toBeGreaterThan(0)
  const tablesOf = ({ query }: ClickHouse) =>
    query(`SELECT name, replace(create_table_query, concat(currentDatabase(), '.'), '') AS made,
        (SELECT count() FROM schema_migrations) AS migrations
      FROM system.tables WHERE database = currentDatabase() ORDER BY name`)
  expect(await tablesOf(stores.ch)).toEqual(await tablesOf(ch))
  await ch.command('TRUNCATE TABLE schema_migrations')
  expect(await migrateClickHouse(ch)).toEqual(all)
  await ch.command(`DROP DATABASE \`${url.pathname.slice(1)}\``)
  await ch.close()
})
