/** The embedded ClickHouse behind the same client as a server. */
import { randomUUID } from 'node:crypto'
import { request } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { InsertRefused } from '../../clickhouse/client.ts'
import { migrateClickHouse } from '../../clickhouse/migrate.ts'
import { StoreUnavailable } from '../../runtime/store-error.ts'
import { freshStores, type TestStores } from '../support/stores.ts'

let stores: TestStores
beforeAll(async () => {
  stores = await freshStores()
  await stores.ch.command(`CREATE TABLE visits
    (n UInt32, day DateTime64(3, 'UTC'), kind Enum8('a' = 1, 'b' = 2), name LowCardinality(String), tag FixedString(2))
    ENGINE = MergeTree PARTITION BY toDate(day, 'UTC') ORDER BY n SETTINGS non_replicated_deduplication_window = 100`)
})
afterAll(() => stores?.close())

const columns = ['n', 'day', 'kind', 'name', 'tag']
const dayMs = 86_400_000

/** RowBinary of rows `from` to `to`, spread over three days. */
function rows(from: number, to: number): Buffer {
  const pieces: Buffer[] = []
  for (let n = from; n < to; n++) {
    const row = Buffer.alloc(4 + 8 + 1 + 1 + 3 + 2)
    row.writeUInt32LE(n, 0)
    row.writeBigInt64LE(BigInt((n % 3) * dayMs + n), 4)
    row.writeUInt8(1 + (n % 2), 12)
    row.writeUInt8(3, 13)
    row.write(`n\0é`.slice(0, 2), 14, 'latin1')
    row.write('x', 16)
    row.write('ok', 17)
    pieces.push(row)
  }
  return Buffer.concat(pieces)
}

function insert(from: number, to: number, token: string, queryId: string = randomUUID()): Promise<void> {
  const bytes = [rows(from, (from + to) >> 1), rows((from + to) >> 1, to)]
  return stores.ch.insertRows({ table: 'visits', columns, bytes, token, queryId, deadlineMs: 30_000 })
}

async function count(): Promise<number> {
  const [row] = await stores.ch.query<{ n: number }>('SELECT count() AS n FROM visits')
  return row!.n
}

test('stores the rows of an insert once under one token, and again under another', async () => {
  await insert(0, 3_000, 'token-1')
  await insert(0, 3_000, 'token-1')
  expect(await count()).toBe(3_000)
  await insert(3_000, 6_000, 'token-2')
  expect(await count()).toBe(6_000)
  const [row] = await stores.ch.query("SELECT * FROM visits WHERE n = 4000 AND kind = 'a' AND length(name) = 3")
  expect(row).toEqual({ n: 4000, day: '1970-01-02 00:00:04.000', kind: 'a', name: 'n\0x', tag: 'ok' })
})

test('makes one block a partition of an insert, however many its rows', async () => {
  await stores.ch.command('TRUNCATE TABLE visits')
  await stores.ch.command('SYSTEM STOP MERGES visits')
  await insert(0, 200_000, 'large')
  const parts = await stores.ch.query<{ rows: number }>(
    "SELECT rows FROM system.parts WHERE database = currentDatabase() AND table = 'visits' AND active",
  )
  expect(parts.map(({ rows }) => rows).sort()).toEqual([66_666, 66_667, 66_667])
})

test('refuses rows that it cannot read, and says so apart from being away', async () => {
  const bytes = [Buffer.from('not rows')]
  const bad = { table: 'visits', columns, bytes, token: 'bad', queryId: randomUUID(), deadlineMs: 5_000 }
  await expect(stores.ch.insertRows(bad)).rejects.toBeInstanceOf(InsertRefused)
  await expect(stores.ch.insertRows({ ...bad, table: 'nowhere' })).rejects.toBeInstanceOf(StoreUnavailable)
})

test('binds parameters of all shapes, alone and at once, without mixing them up', async () => {
  const texts = ["a'b\\c", 'tab\there', 'line\nbreak', 'ünï{x:String}', '', ';--']
  const asked = Array.from({ length: 60 }, (_, i) => ({
    text: texts[i % texts.length]!,
    list: [i, i + 1],
    long: 'z'.repeat(i * 500),
  }))
  const answers = await Promise.all(
    asked.map((params) =>
      stores.ch.query('SELECT {text:String} AS text, {list:Array(UInt32)} AS list, {long:String} AS long', params),
    ),
  )
  expect(answers).toEqual(asked.map((params) => [params]))
})

test('forgets the settings of one query before the next', async () => {
  const read = () => stores.ch.query<{ v: number }>("SELECT toUInt64(getSetting('max_result_rows')) AS v")
  const options = { settings: { max_result_rows: 7 } }
  await Promise.all(Array.from({ length: 20 }, () => stores.ch.query('SELECT 1', {}, options)))
  await expect(stores.ch.query('SELECT nothing', {}, options)).rejects.toThrow(/nothing/)
  for (const [row] of await Promise.all(Array.from({ length: 20 }, read))) expect(row!.v).toBe(0)
})

test('ends a query at its deadline as a store that is away', async () => {
  const started = Date.now()
  const slow = stores.ch.query('SELECT sum(cityHash64(number)) FROM numbers(1e12)', {}, { deadlineMs: 500 })
  await expect(slow).rejects.toBeInstanceOf(StoreUnavailable)
  expect(Date.now() - started).toBeLessThan(10_000)
})

test('answers an error of the statement as ClickHouse does, with its code', async () => {
  await expect(stores.ch.query('SELEC 1')).rejects.toMatchObject({ code: '62', type: 'SYNTAX_ERROR' })
  await expect(stores.ch.query('SELECT * FROM nowhere')).rejects.toMatchObject({ code: '60', type: 'UNKNOWN_TABLE' })
})

test('keeps 64-bit integers as numbers and hashes as the text they were made', async () => {
  const [row] = await stores.ch.query(
    "SELECT toUInt64(9007199254740991) AS n, toString(toUInt64('18446744073709551615')) AS hash",
  )
  expect(row).toEqual({ n: 9007199254740991, hash: '18446744073709551615' })
})

test('kills an insert that has not begun, and returns at once for one that is not there', async () => {
  await stores.ch.killInsert('unknown')
  const before = await count()
  const queryId = randomUUID()
  const slow = request(insertUrl(queryId), { method: 'POST' })
  const answered = new Promise<number>((resolve) => slow.on('response', (response) => resolve(response.statusCode!)))
  slow.write(rows(0, 10))
  await new Promise((go) => setTimeout(go, 100))
  const killed = stores.ch.killInsert(queryId)
  await new Promise((go) => setTimeout(go, 100))
  slow.end(rows(10, 20))
  expect(await answered).toBe(500)
  await killed
  expect(await count()).toBe(before)
})

function insertUrl(queryId: string): string {
  const { origin, pathname } = new URL(stores.clickhouseUrl)
  const query = `INSERT INTO visits (${columns.join(', ')}) FORMAT RowBinary`
  return `${origin}/?${new URLSearchParams({ query, database: pathname.slice(1), query_id: queryId })}`
}

test('stores nothing of an insert whose sender vanished in the middle', async () => {
  const before = await count()
  const cut = request(insertUrl(randomUUID()), { method: 'POST' })
  cut.on('error', () => {})
  cut.write(rows(0, 1_000))
  await new Promise((go) => setTimeout(go, 100))
  cut.destroy()
  await new Promise((go) => setTimeout(go, 100))
  expect(await count()).toBe(before)
})

test('tells its start time, the same each time', async () => {
  const first = await stores.ch.startTime()
  expect(Math.abs(Date.now() / 1000 - first)).toBeLessThan(600)
  for (let i = 0; i < 20; i++) expect(await stores.ch.startTime()).toBe(first)
})

test('migrates once, and again without effect', async () => {
  expect(await migrateClickHouse(stores.ch)).toEqual([])
})
