/** All that the stores of a product hold, in pieces of bytes, each with the name of its place. */
import { Redis } from 'ioredis'
import type { ClickHouse } from '../../clickhouse/client.ts'
import type { Postgres } from '../../postgres/client.ts'

export interface StoredBytes {
  readonly place: string
  readonly bytes: Buffer
}

/** Every table that isn't Postgres's own. Bytes are hexadecimal there. */
export async function* bytesOfPostgres(pg: Postgres): AsyncGenerator<StoredBytes> {
  const tables = await pg.query<{ name: string }>(
    `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
     WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`,
  )
  for (const { name } of tables) {
    const rows = await pg.query<{ row: string }>(`SELECT t::text AS row FROM ${name} t`, [], { deadlineMs: 60_000 })
    yield { place: `Postgres ${name}`, bytes: Buffer.from(rows.map(({ row }) => row).join('\n')) }
  }
}

/**
 * Every table of ours, and ClickHouse's own logs of queries and errors where it keeps some: as they are shown, and each
 * value's bytes. Write-only tables can't be read. States of projections are made of columns that are read here, and
 * can't be shown.
 */
export async function* bytesOfClickHouse(ch: ClickHouse): AsyncGenerator<StoredBytes> {
  const tables = await ch.query<{ database: string; name: string }>(
    `SELECT database, name FROM system.tables
     WHERE database NOT IN ('information_schema', 'INFORMATION_SCHEMA') AND engine NOT LIKE '%View'
       AND (database != 'system' OR name LIKE '%\\_log')`,
  )
  for (const { database, name } of tables) {
    const columns = await ch.query<{ name: string }>(
      `SELECT name FROM system.columns WHERE database = {database:String} AND table = {name:String}
         AND type NOT LIKE '%AggregateFunction%' AND default_kind != 'EPHEMERAL'`,
      { database, name },
    )
    const quoted = (column: string) =>
      column
        .split('.')
        .map((part) => `\`${part}\``)
        .join('.')
    const shown = columns.map((column) => `toString(${quoted(column.name)})`).join(', ')
    const rows = await ch.query<{ text: string; hex: string }>(
      `WITH concatWithSeparator('\t', ${shown}, '') AS row SELECT row AS text, hex(row) AS hex FROM \`${database}\`.\`${name}\``,
    )
    const text = rows.map(({ text }) => text).join('\n')
    yield { place: `ClickHouse ${database}.${name}`, bytes: Buffer.from(text) }
    yield { place: `ClickHouse ${database}.${name}`, bytes: Buffer.from(rows.map(({ hex }) => hex).join(''), 'hex') }
  }
}

const redisDatabases = 16
const readers: Record<string, (redis: Redis, key: Buffer) => Promise<unknown>> = {
  string: (redis, key) => redis.getBuffer(key),
  hash: (redis, key) =>
    redis
      .hgetallBuffer(key)
      .then((fields) => Object.entries(fields).map(([name, value]) => [Buffer.from(name), value])),
  list: (redis, key) => redis.lrangeBuffer(key, 0, -1),
  set: (redis, key) => redis.smembersBuffer(key),
  zset: (redis, key) => redis.zrangeBuffer(key, '0', '-1'),
  stream: (redis, key) => redis.xrangeBuffer(key, '-', '+'),
}

/** Every key of every database. */
export async function* bytesOfRedis(url: string): AsyncGenerator<StoredBytes> {
  const redis = new Redis(url)
  try {
    for (let database = 0; database < redisDatabases; database++) {
      await redis.select(database)
      for (const key of (await redis.callBuffer('KEYS', '*')) as Buffer[]) {
        const type = await redis.type(key)
        // One that went meanwhile: keys expire, and jobs end.
        if (type === 'none') continue
        const value = await readers[type]!(redis, key)
        yield { place: `Redis ${database} ${key.toString('latin1')}`, bytes: Buffer.concat([key, ...flat(value)]) }
      }
    }
  } finally {
    redis.disconnect()
  }
}

function flat(value: unknown): Buffer[] {
  if (Array.isArray(value)) return value.flatMap(flat)
  if (Buffer.isBuffer(value)) return [value, Buffer.from('\n')]
  return value === null || value === undefined ? [] : [Buffer.from(String(value))]
}
