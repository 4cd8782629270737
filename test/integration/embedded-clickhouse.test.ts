/** The embedded ClickHouse behind the same client as a server. */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { beforeAll, expect, test } from 'vitest'
import { connectClickHouse } from '../../clickhouse/client.ts'
import { InsertRefused } from '../../clickhouse/insert.ts'
import { sleep } from '../../runtime/retry.ts'
import { StoreUnavailable } from '../../runtime/store-error.ts'
import { setUpStores } from '../support/stores.ts'

const stores = setUpStores()
beforeAll(async () => {
  await stores.ch.command(`CREATE TABLE visits
    (n UInt32, day DateTime64(3, 'UTC'), kind Enum8('a' = 1, 'b' = 2), name LowCardinality(String), tag FixedString(2))
    ENGINE = MergeTree PARTITION BY toDate(day, 'UTC') ORDER BY n SETTINGS non_replicated_deduplication_window = 100`)
})

const columns = ['n', 'day', 'kind', 'name', 'tag']
const dayMs = 86_400_000

/** RowBinary of rows `from` to `to`, spread over three days. */
function rows(from: number, to: number): Buffer {
  const made = Array.from({ length: to - from }, (_, at) => {
    const n = from + at
    const row = Buffer.from(`${'\0'.repeat(13)}\x03n\0xok`, 'latin1')
    row.writeUInt32LE(n, 0)
    row.writeBigInt64LE(BigInt((n % 3) * dayMs + n), 4)
    row.writeUInt8(1 + (n % 2), 12)
    return row
  })
  return Buffer.concat(made)
}

function insert(from: number, to: number, token: string, queryId: string = randomUUID()): Promise<void> {
  const bytes = [rows(from, (from + to) >> 1), rows((from + to) >> 1, to)]
  return stores.ch.insertRows({ table: 'visits', columns, bytes, token, queryId, deadlineMs: 120_000 })
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

test('loads into a table as it is after a change of its columns', async () => {
  const load = (names: readonly string[], values: string) =>
    stores.ch.insertRows({
      table: 'changing',
      columns: names,
      bytes: [Buffer.from(values)],
      token: randomUUID(),
      queryId: randomUUID(),
      deadlineMs: 120_000,
    })
  await stores.ch.command('CREATE TABLE changing (a UInt8) ENGINE = MergeTree ORDER BY ()')
  await load(['a'], '\x01')
  await stores.ch.command('ALTER TABLE changing ADD COLUMN b UInt16, MODIFY COLUMN a UInt16')
  await load(['a', 'b'], '\x02\0\x03\0')
  await stores.ch.command('DROP TABLE changing SYNC')
  await stores.ch.command('CREATE TABLE changing (b UInt8, a UInt8) ENGINE = MergeTree ORDER BY ()')
  await load(['a', 'b'], '\x04\x05')
  expect(await stores.ch.query('SELECT a, b FROM changing')).toEqual([{ a: 4, b: 5 }])
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
  const bad = { table: 'visits', columns, bytes, token: 'bad', queryId: randomUUID(), deadlineMs: 120_000 }
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

test('forgets the settings and the parameters of one query before the next', async () => {
  const all = <Answer>(one: (n: number) => Promise<Answer>) =>
    Promise.allSettled(Array.from({ length: 24 }, (_, n) => one(n)))
  const options = { settings: { max_result_rows: 7 } }
  // Whichever session takes a statement, it took one with the parameter.
  await all((n) => stores.ch.query('SELECT {left_over:UInt32} AS n', { left_over: n }, options))
  await expect(stores.ch.query('SELECT nothing', {}, options)).rejects.toThrow(/nothing/)
  const set = await all(() => stores.ch.query("SELECT toUInt64(getSetting('max_result_rows')) AS v"))
  expect(set).toEqual(Array(24).fill({ status: 'fulfilled', value: [{ v: 0 }] }))
  for (const answer of await all(() => stores.ch.query('SELECT {left_over:UInt32} AS n'))) {
    expect(answer.status === 'rejected' && String(answer.reason)).toMatch('`left_over` is not set')
  }
})

test('ends a query at its deadline as a store that is away', async () => {
  const started = Date.now()
  const slow = stores.ch.query('SELECT sum(cityHash64(number)) FROM numbers(1e12)', {}, { deadlineMs: 500 })
  await expect(slow).rejects.toBeInstanceOf(StoreUnavailable)
  expect(Date.now() - started).toBeLessThan(60_000)
})

test('answers nothing of a statement that failed in the middle of its rows', async () => {
  const failing = 'SELECT number AS secret, throwIf(number = 200000) FROM numbers(300000)'
  for (const isLong of [true, false]) {
    await expect(stores.ch.query(failing, {}, { isLong })).rejects.toThrow()
    expect(await stores.ch.query('SELECT number AS n FROM numbers(2)', {}, { isLong })).toEqual([{ n: 0 }, { n: 1 }])
  }
})

test('answers errors of statements with ClickHouse’s codes, integers of 64 bits as numbers, and hashes as texts', async () => {
  await expect(stores.ch.query('SELEC 1')).rejects.toMatchObject({ code: '62', type: 'SYNTAX_ERROR' })
  await expect(stores.ch.query('SELECT * FROM nowhere')).rejects.toMatchObject({ code: '60', type: 'UNKNOWN_TABLE' })
  const sql = "SELECT toUInt64(9007199254740991) AS n, toString(toUInt64('18446744073709551615')) AS hash"
  expect(await stores.ch.query(sql)).toEqual([{ n: 9007199254740991, hash: '18446744073709551615' }])
})

/** Kills once there is something to kill. @returns what settles when it has ended */
async function killOnceThere(kill: () => Promise<void>): Promise<{ killed: Promise<void> }> {
  for (;;) {
    let isOver = false
    const killed = kill().finally(() => {
      isOver = true
    })
    // It returns at once where nothing is there: before all these later questions are answered, on a busy machine, too.
    for (let asked = 0; asked < 20; asked++) await stores.ch.query('SELECT 1')
    if (!isOver) return { killed }
    await killed
  }
}

test('kills an insert that has not begun, and returns at once for one that is not there', async () => {
  await stores.ch.killInsert('unknown')
  const before = await count()
  const queryId = randomUUID()
  const slow = beginInsert(queryId)
  const answered = new Promise<number>((resolve) => slow.on('response', (response) => resolve(response.statusCode!)))
  slow.write(rows(0, 10))
  const { killed } = await killOnceThere(() => stores.ch.killInsert(queryId))
  slow.end(rows(10, 20))
  expect(await answered).toBe(500)
  await killed
  expect(await count()).toBe(before)
})

test('kills the inserts of its database whose ids begin so, and a fence may not reach beyond the tables', async () => {
  const before = await count()
  const [ended, other] = [beginInsert('kill-me-1'), beginInsert('kill-me-not')]
  const statuses = [ended, other].map(
    (insert) => new Promise<number>((resolve) => insert.on('response', ({ statusCode }) => resolve(statusCode!))),
  )
  for (const insert of [ended, other]) insert.write(rows(0, 10))
  await sleep(300)
  const elsewhere = connectClickHouse(new URL('/default', stores.clickhouseUrl).href)
  await elsewhere.killInserts('kill-me-')
  await elsewhere.close()
  const { killed } = await killOnceThere(() => stores.ch.killInserts('kill-me-1'))
  for (const insert of [ended, other]) insert.end()
  expect(await Promise.all(statuses)).toEqual([500, 200])
  await killed
  expect(await count()).toBe(before + 10)

  const fence = { holds: `(SELECT count() FROM file('/etc/passwd')) > 0`, structure: 'a UInt8' }
  const reaching = { table: 'visits', columns, bytes: [rows(0, 1)], token: 'fenced', queryId: randomUUID(), fence }
  await expect(stores.ch.insertRows({ ...reaching, deadlineMs: 120_000 })).rejects.toThrow('beyond the tables')
})

/** Not by the client: to be cut in the middle, or with headers of its own. */
function beginPost(params: Record<string, string>, headers: Record<string, string> = {}): ClientRequest {
  const { origin, pathname, username, password } = new URL(stores.clickhouseUrl)
  const query = new URLSearchParams({ database: pathname.slice(1), ...params })
  return request(`${origin}/?${query}`, { method: 'POST', headers, auth: `${username}:${password}` })
}

function beginInsert(queryId: string): ClientRequest {
  const query = `INSERT INTO visits (${columns.join(', ')}) FORMAT RowBinary`
  return beginPost({ query, query_id: queryId, insert_deduplication_token: queryId })
}

async function asked(sql: string, headers: Record<string, string> = {}): Promise<{ status: number; text: string }> {
  const [response] = (await once(beginPost({}, headers).end(sql), 'response')) as [IncomingMessage]
  return { status: response.statusCode!, text: (await response.toArray()).join('') }
}

test('takes long parameters after statements that set nothing', async () => {
  const seats = Array.from({ length: 6 })
  await Promise.all(seats.map(() => asked('SELECT sleep(0.1)')))
  const text = 'x'.repeat(120_000)
  const lengths = await Promise.all(
    seats.map(() => stores.ch.query('SELECT length({text:String}) AS length, sleep(0.1) AS slept', { text })),
  )
  expect(lengths.flat()).toEqual(seats.map(() => ({ length: 120_000, slept: 0 })))
})

test('takes lists that are longer than one parameter may be, and refuses a longer text as a server does', async () => {
  const { ch } = stores
  const ids = Array.from({ length: 20_000 }, (_, n) => BigInt(n) + 2n ** 63n)
  const names = ids.map((id) => `it's ${id} \\ é\n`)
  const [zipped] = await ch.query<{ ids: number; last: string }>(
    `SELECT uniqExact(t.1) AS ids, argMax(t.2, t.1) AS last FROM (SELECT arrayJoin(arrayZip({ids:Array(UInt64)}, {names:Array(String)})) AS t)`,
    { ids, names },
  )
  expect(zipped).toEqual({ ids: ids.length, last: names.at(-1) })
  // Each takes 16 bytes with its comma: with its brackets, a full first portion would have a byte too many.
  const even = Array.from({ length: 131_072 / 16 + 1 }, () => 999_999_999_999_999)
  expect(await ch.query('SELECT length({even:Array(UInt64)}) AS n', { even })).toEqual([{ n: even.length }])
  await ch.command('CREATE TABLE listed (id UInt64, name String) ENGINE = MergeTree ORDER BY id')
  await ch.command(
    'INSERT INTO listed SELECT number + toUInt64(9223372036854775808), toString(number) FROM numbers(20010)',
  )
  const left = async () => (await ch.query<{ n: number }>('SELECT count() AS n FROM listed'))[0]!.n
  const listed = 'SELECT count() AS n FROM listed PREWHERE id IN {ids:Array(UInt64)}'
  expect(await ch.query(listed, { ids })).toEqual([{ n: ids.length }])
  const rest = ids.slice(5).map(String)
  await ch.command('ALTER TABLE listed DELETE WHERE id IN {ids:Array(UInt64)} SETTINGS mutations_sync = 1', { ids })
  expect(await left()).toBe(10)
  await ch.command(
    'ALTER TABLE listed DELETE WHERE NOT has(arrayMap(one -> toUInt64(one), {rest:Array(String)}), id) SETTINGS mutations_sync = 1',
    { rest },
  )
  expect(await left()).toBe(0)
  await expect(ch.query('SELECT {text:String}', { text: 'x'.repeat(200_000) })).rejects.toThrow('Field value too long')
})

test('answers nobody without the password, and no page', async () => {
  const { origin } = new URL(stores.clickhouseUrl)
  for (const authorization of [undefined, 'Basic', `Basic ${btoa('default:')}`, `Basic ${btoa('default:x')}`]) {
    const headers = new Headers(authorization ? { authorization } : {})
    const answer = await fetch(origin, { method: 'POST', body: 'SELECT 1', headers })
    expect([answer.status, await answer.text()]).toEqual([401, expect.stringContaining('AUTHENTICATION_FAILED')])
  }
  expect(await asked('SELECT 1')).toEqual({ status: 200, text: '1\n' })
  const fromPage = await asked('SELECT 1', { Origin: 'https://evil.example' })
  expect(fromPage).toEqual({ status: 403, text: expect.stringContaining('ACCESS_DENIED') })
  const wrong = connectClickHouse(stores.clickhouseUrl.replace(/:\w+@/, ':wrong@'))
  await expect(wrong.query('SELECT 1')).rejects.toBeInstanceOf(StoreUnavailable)
  await wrong.close()
})

test.each([
  "SELECT * FROM file('/etc/hostname', LineAsString)",
  "SELECT * FROM `file`('/etc/hostname', LineAsString)",
  `SELECT * FROM "file" /* ( */ ('/etc/hostname', LineAsString)`,
  "SELECT $$'$$, x FROM FILE -- '\n ('/etc/hostname', LineAsString, 'x String') WHERE $$'$$ != ''",
  "SELECT file('/etc/hostname')",
  "SELECT * FROM '/etc/hostname'",
  'SELECT * FROM default.`/etc/hostname`',
  "SELECT 1 INTO OUTFILE '/tmp/never-written.csv'",
  "INSERT INTO visits FROM INFILE '/etc/hostname' FORMAT CSV",
  "INSERT INTO FUNCTION file('/tmp/never-written.csv', CSV, 'a String') VALUES ('x')",
  "CREATE TABLE outside (a String) ENGINE = File(CSV, '/tmp/never-written.csv')",
  "CREATE DATABASE outside ENGINE = Filesystem('/etc')",
  "SELECT * FROM url('http://127.0.0.1:1/', CSV, 'a String')",
  "SELECT * FROM remote('127.0.0.1:1', system.one)",
  "SELECT * FROM executable('x.sh', CSV, 'a String')",
])('reaches beyond its tables for nobody: %s', async (sql) => {
  expect(await asked(sql)).toEqual({ status: 403, text: expect.stringContaining('reaches beyond the tables') })
  expect(existsSync('/tmp/never-written.csv')).toBe(false)
})

test('a text or a name may hold what a statement may not, and functions whose names are alike are no others', async () => {
  const sql =
    "SELECT 'file(''x'')' AS a, cutURLParameter('http://x/?b=1', 'b') AS `url`, domain('http://y/') AS c FROM visits WHERE n IN (0, 1) LIMIT 0"
  expect(await asked(sql)).toEqual({ status: 200, text: '' })
  expect(
    await stores.ch.query('SELECT {text:String} AS text', { text: "SELECT * FROM file('/etc/hostname')" }),
  ).toEqual([{ text: "SELECT * FROM file('/etc/hostname')" }])
})

test('stores nothing of an insert whose sender vanished in the middle', async () => {
  const before = await count()
  const cut = beginInsert(randomUUID())
  cut.on('error', () => {})
  cut.write(rows(0, 1_000))
  await sleep(100)
  cut.destroy()
  for (let waited = 0; waited < 2_000; waited += 100) {
    await sleep(100)
    expect(await count()).toBe(before)
  }
})
