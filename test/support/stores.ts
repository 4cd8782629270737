/** Real stores for a test: a database of its own in each of the run's shared Postgres, Redis and ClickHouse, migrated. */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { afterAll, beforeAll } from 'vitest'
import type { ClickHouse } from '../../clickhouse/client.ts'
import type { Postgres } from '../../postgres/client.ts'
import { type IdentityHashes, makeIdentityHashes } from '../../runtime/crypto/identity-hash.ts'
import { makeSecretBox, type SecretBox } from '../../runtime/crypto/secret-box.ts'
import { type FileStorage, makeFileStorage } from '../../runtime/files/file-storage.ts'
import { askShared } from './first-process.ts'
import { patientClickHouse, patientPostgres } from './patient-clients.ts'
import type { SharedStores } from './shared-stores.ts'

export interface TestStores extends SharedStores {
  pg: Postgres
  ch: ClickHouse
  box: SecretBox
  media: FileStorage
  hashes: IdentityHashes
  /** Nothing is shared: each question is answered anew. */
  share: <Answer>(question: string, work: () => Promise<Answer>) => Promise<Answer>
  secretKey: string
  /** A folder of its own, deleted by `close`. */
  dataDir: string
  close(): Promise<void>
}

export interface StoreOptions {
  /**
   * Events lie in parts of a year instead of a day. Tests of figures over events of hundreds of days so cost a third.
   * Shipping, retention and erasing, which know of the days, are tested on the real ones.
   */
  hasYearlyParts?: boolean
}

/** Redis databases that belong to one caller: its URL's number and the next ones. */
const redisDatabasesEach = 4
const redisCallersMax = 999

const sharedSecret = 'a secret of tests, of 32 letters'

/** Stores for the tests of a file. They are filled in before the first begins: nothing can be taken out at the top. */
export function setUpStores(options: StoreOptions = {}): TestStores {
  const stores = {} as TestStores
  beforeAll(async () => {
    Object.assign(stores, await freshStores(options))
  })
  afterAll(() => stores.close?.())
  return stores
}

/** Close them when the test is over. */
export async function freshStores(options: StoreOptions = {}): Promise<TestStores> {
  return freshStoresOn(await askShared<SharedStores>(), options)
}

/** The same in the process that knows the shared ones. */
export async function freshStoresOn(shared: SharedStores, options: StoreOptions = {}): Promise<TestStores> {
  const name = `test_${randomBytes(6).toString('hex')}`
  const databaseUrl = withPath(shared.databaseUrl, name)
  const clickhouseUrl = withPath(shared.clickhouseUrl, name)

  // To copy files takes a fifth of the processor's time that their way through Postgres's log would take.
  const created = outside(shared, (pg) => pg.query(`CREATE DATABASE ${name} TEMPLATE svc STRATEGY file_copy`))
  const pg = patientPostgres(databaseUrl)
  const ch = patientClickHouse(clickhouseUrl)
  const [redisUrl] = await Promise.all([takeRedis(shared.redisUrl), created, copyTables(ch, shared, options)])
  const secretKey = randomBytes(32).toString('hex')
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-data-'))
  return {
    databaseUrl,
    redisUrl,
    clickhouseUrl,
    pg,
    ch,
    dataDir,
    share: (_, work) => work(),
    box: makeSecretBox(sharedSecret, 'tests'),
    media: makeFileStorage(join(dataDir, 'media')),
    secretKey,
    hashes: makeIdentityHashes(secretKey),
    close: async () => {
      const drop = async () => {
        await pg.close()
        // FORCE: a service that a test killed may not have closed its connections yet.
        await outside(shared, (other) => other.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`))
      }
      await Promise.all([drop(), ch.command(`DROP DATABASE IF EXISTS ${name} SYNC`)])
      await ch.close()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

async function outside(shared: SharedStores, work: (pg: Postgres) => Promise<unknown>): Promise<void> {
  const pg = patientPostgres(withPath(shared.databaseUrl, 'postgres'), { max: 1 })
  try {
    await work(pg)
  } finally {
    await pg.close()
  }
}

/** The tables of the migrated database, empty: to migrate each anew would take a tenth of ClickHouse's time in the tests. */
async function copyTables(
  ch: ClickHouse,
  { clickhouseUrl }: SharedStores,
  { hasYearlyParts = false }: StoreOptions,
): Promise<void> {
  const template = new URL(clickhouseUrl).pathname.slice(1)
  await ch.createDatabase()
  const tables = await ch.query<{ name: string; engine: string }>(
    'SELECT name, engine_full AS engine FROM system.tables WHERE database = {template:String}',
    { template },
  )
  const copy = ({ name, engine }: { name: string; engine: string }) => {
    const parts = hasYearlyParts ? ` ENGINE = ${engine.replace(byDay, 'toYear(')}` : ''
    return ch.command(`CREATE TABLE ${name} AS ${template}.${name}${parts}`)
  }
  await Promise.all(tables.map(copy))
  await ch.command(`INSERT INTO schema_migrations SELECT * FROM ${template}.schema_migrations`)
}

const byDay = /(?<=PARTITION BY )toDate\(/

/** Database 0 holds nothing but the count of callers. */
async function takeRedis(url: string): Promise<string> {
  const redis = new Redis(url)
  try {
    const caller = await redis.incr('callers')
    const first = (1 + (caller % redisCallersMax)) * redisDatabasesEach
    for (let number = first; number < first + redisDatabasesEach; number++) {
      await redis.select(number)
      await redis.flushdb()
    }
    return withPath(url, String(first))
  } finally {
    redis.disconnect()
  }
}

function withPath(url: string, path: string): string {
  const changed = new URL(url)
  changed.pathname = `/${path}`
  return changed.href
}
