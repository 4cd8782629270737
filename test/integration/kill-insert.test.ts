import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type ClickHouse, connectClickHouse } from '../../clickhouse/client.ts'
import { StoreUnavailable } from '../../runtime/store-error.ts'
import { type Supervised, supervise } from '../../start/processes/supervise.ts'
import { prepareClickHouse } from '../../start/stores/clickhouse.ts'
import { compileService } from '../support/compile.ts'
import { setUpFolder } from '../support/test-folder.ts'

const folder = setUpFolder()
let kept: Supervised
let ch: ClickHouse

beforeAll(async () => {
  const file = await compileService('clickhouse/embedded-server.ts')
  const store = await prepareClickHouse(join(folder, 'clickhouse'), file)
  kept = supervise(store, { changed: () => {}, died: () => {} })
  await kept.firstUp
  ch = connectClickHouse(store.url)
  await ch.createDatabase()
})
afterAll(async () => {
  await ch?.close()
  await kept?.stop()
})

test('after killInsert resolves the insert runs no more, even when it would have run for long', async () => {
  await ch.command('CREATE TABLE numbers_in (n UInt32) ENGINE = MergeTree ORDER BY n')
  await ch.command('CREATE TABLE numbers_out (n UInt32) ENGINE = MergeTree ORDER BY n')
  await ch.command(`CREATE MATERIALIZED VIEW slowly TO numbers_out AS
    SELECT n + sleepEachRow(3) AS n FROM numbers_in SETTINGS function_sleep_max_microseconds_per_block = 0`)
  const firstPid = kept.pid
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
  await wait(1_000)
  await vi.waitFor(() => ch.killInsert('slow-insert'), { timeout: 60_000, interval: 200 })
  expect(await outcome).toBeInstanceOf(StoreUnavailable)
  expect(kept.pid).not.toBe(firstPid)
})
