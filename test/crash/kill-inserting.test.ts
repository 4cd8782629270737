/**
 * kill -9 of ClickHouse inside an insert of a running ingest, at a random moment or as it answers. Nobody is told of the
 * insert's outcome. Ingest settles it by asking, and by inserts that may be killed as well. In the end each acknowledged
 * event counts once. An insert that must end ends with the process, where the engine can't stop it.
 */
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type ClickHouse, connectClickHouse } from '../../clickhouse/client.ts'
import { migrateClickHouse } from '../../clickhouse/migrate.ts'
import { sleep } from '../../runtime/retry.ts'
import { StoreUnavailable } from '../../runtime/store-error.ts'
import { type Supervised, supervise } from '../../start/processes/supervise.ts'
import { prepareClickHouse } from '../../start/stores/clickhouse.ts'
import { compileService } from '../support/compile.ts'
import { exactFigures, judgeFigures } from '../support/figures.ts'
import { foldAll } from '../support/fold.ts'
import { startIngest, type TestIngest } from '../support/ingest.ts'
import { exact, judge, openLedger, type StoredEvent, storedEventsSql } from '../support/ledger.ts'
import { drawsOf, isLong } from '../support/short-form.ts'
import { setUpStores } from '../support/stores.ts'
import { isInsert, startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts'

const rounds = isLong ? 5 : 1
const killsEach = isLong ? 10 : 2
/** Pause of each of the ledger's connections. */
const pauseMs = isLong ? 50 : 200
const draw = drawsOf('kill-inserting')
/** After ClickHouse serves again: now and then the next kill meets what settles the last one. */
const betweenKillsMs = 1_500
const patience = { timeout: 120_000 }

const stores = setUpStores()
let clickhouse: Supervised
let ch: ClickHouse
let proxy: TcpProxy
let ingest: TestIngest

beforeAll(async () => {
  const file = await compileService('clickhouse/embedded-server.ts')
  const store = await prepareClickHouse(join(stores.dataDir, 'clickhouse'), file)
  clickhouse = supervise(store, { changed: () => {}, died: () => {} })
  await clickhouse.firstUp
  ch = connectClickHouse(store.url)
  await migrateClickHouse(ch)
  proxy = await startTcpProxy(store.url, { toStore: seeStatement, fromStore: seeAnswer })
  ingest = await startIngest(stores, { CLICKHOUSE_URL: proxy.url })
})
afterAll(async () => {
  await ingest?.stop('SIGKILL')
  await proxy?.close()
  await ch?.close()
  await clickhouse?.stop()
})

test('has threads for four merges or mutations in turn, on less than four cores one', async () => {
  const [set] = await ch.query<{ names: string[]; numbers: number[] }>(
    `SELECT groupArray(name) AS names, groupArray(toFloat64(value)) AS numbers FROM
       (SELECT name, value FROM system.server_settings WHERE name IN
          ('background_pool_size', 'background_merges_mutations_concurrency_ratio') ORDER BY name)`,
  )
  const threads = availableParallelism() < 4 ? 1 : 2
  expect(set).toEqual({
    names: ['background_merges_mutations_concurrency_ratio', 'background_pool_size'],
    numbers: [4 / threads, threads],
  })
})

/** When the insert that is under way began. */
let insertSince: number | undefined
let insertTookMs = 20
/** The kill that is due. */
let due: { readonly isAtAnswer: boolean; tell(pid: number): void } | undefined

function seeStatement(chunk: Buffer): boolean {
  if (insertSince !== undefined || !isInsert(chunk)) return true
  const since = performance.now()
  insertSince = since
  // Unless that insert is answered meanwhile: then the next one is tried.
  if (due?.isAtAnswer === false) setTimeout(() => insertSince === since && kill(), draw() * insertTookMs)
  return true
}

function seeAnswer(): boolean {
  if (insertSince === undefined) return true
  if (due?.isAtAnswer) return !kill()
  insertTookMs = performance.now() - insertSince
  insertSince = undefined
  return true
}

/** @returns whether there was something to kill */
function kill(): boolean {
  const { pid } = clickhouse
  if (pid === undefined || due === undefined) return false
  process.kill(pid, 'SIGKILL')
  due.tell(pid)
  due = undefined
  insertSince = undefined
  return true
}

/** @param isAtAnswer the rows are stored then, and nobody hears it */
async function killInsideAnInsert(isAtAnswer: boolean): Promise<void> {
  const killed = await new Promise<number>((tell) => {
    due = { isAtAnswer, tell }
  })
  await vi.waitUntil(() => clickhouse.isUp && clickhouse.pid !== killed, patience)
}

test(
  `ClickHouse killed inside ${rounds * killsEach} inserts stores each acknowledged event once, and figures count it once`,
  async () => {
    const own = { pg: stores.pg, ch }
    for (let round = 0; round < rounds; round++) {
      const ledger = openLedger({ pauseMs })
      await ledger.runDuring(
        () => ({ trackingUrl: ingest.url, trackingKey: ingest.key }),
        async () => {
          for (let kill = 0; kill < killsEach; kill++) {
            await sleep(draw() * betweenKillsMs)
            await killInsideAnInsert(kill % 2 === 1)
            // While the insert may still be unsettled.
            await foldAll(own)
          }
        },
        100,
      )
      expect([...ledger.failures]).toEqual([])
      await ingest.shipped()
      expect(judge(ledger, await ch.query<StoredEvent>(storedEventsSql))).toEqual(exact)
      expect(await judgeFigures(own)).toEqual(exactFigures)
    }
  },
  rounds * killsEach * 150_000,
)

test('after killInsert resolves the insert runs no more, even when it would have run for long', async () => {
  await ch.command('CREATE TABLE numbers_in (n UInt32) ENGINE = MergeTree ORDER BY n')
  await ch.command('CREATE TABLE numbers_out (n UInt32) ENGINE = MergeTree ORDER BY n')
  await ch.command(`CREATE MATERIALIZED VIEW slowly TO numbers_out AS
    SELECT n + sleepEachRow(3) AS n FROM numbers_in SETTINGS function_sleep_max_microseconds_per_block = 0`)
  const firstPid = clickhouse.pid
  const insert = ch.insertRows({
    table: 'numbers_in',
    columns: ['n'],
    bytes: [Buffer.from(new Uint32Array(20).buffer)],
    token: 'slow',
    queryId: 'slow-insert',
    deadlineMs: 90_000,
  })
  const outcome = insert.then(
    () => 'stored',
    (error) => error,
  )
  const running = "SELECT 1 FROM system.processes WHERE query LIKE 'INSERT INTO numbers_in%'"
  await vi.waitUntil(async () => (await ch.query(running)).length > 0, patience)
  await vi.waitFor(() => ch.killInsert('slow-insert'), { ...patience, interval: 200 })
  expect(await outcome).toBeInstanceOf(StoreUnavailable)
  expect(clickhouse.pid).not.toBe(firstPid)
})
