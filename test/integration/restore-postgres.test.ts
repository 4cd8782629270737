/** Ingest nodes and a Postgres that was restored from a backup: it has forgotten the leases that were taken since. */
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { segmentLeaseSize, segmentRowsMax } from '../../schemas/limits/log-limits.ts'
import { runSvc } from '../support/command-line.ts'
import { startIngest, type TestIngest } from '../support/ingest.ts'
import { freshStores, type TestStores } from '../support/stores.ts'

let stores: TestStores
let first: TestIngest
const nodes: TestIngest[] = []

beforeEach(async () => {
  stores = await freshStores()
  first = await start('first')
  await storeEvent(first)
})
afterEach(async () => {
  await Promise.all(nodes.splice(0).map((node) => node.stop('SIGKILL')))
  await stores.close()
})

async function start(name: string): Promise<TestIngest> {
  const node = await startIngest(stores, { DATA_DIR: join(stores.dataDir, name) }, nodes[0])
  nodes.push(node)
  return node
}

async function svc(...words: string[]) {
  const { databaseUrl: DATABASE_URL, clickhouseUrl: CLICKHOUSE_URL } = stores
  const { code, out } = await runSvc([...words, '--json'], { DATABASE_URL, CLICKHOUSE_URL })
  return { code, said: JSON.parse(out) as Record<string, unknown> }
}

const leaseOf = (id: number) => Math.floor(id / segmentRowsMax / segmentLeaseSize)

/** @returns its id */
async function storeEvent(node: TestIngest): Promise<number> {
  const event = { tracking_key: node.key, event_name: 'pageview', url: 'https://example.com/', anonymous_id: 'v' }
  const { status, body } = await node.post('/track', event)
  expect(status).toBe(202)
  await node.shipped()
  return body.event_id!
}

const marks = () =>
  stores.pg.query<{ lease: number; through: number }>(
    `SELECT first_segment / ${segmentLeaseSize} AS lease, shipped_through AS through FROM segment_leases_taken ORDER BY 1`,
  )

async function backUp(): Promise<() => Promise<void>> {
  const [sequence] = await stores.pg.query<{ last: number }>('SELECT last_value AS last FROM segment_leases')
  await stores.pg.query('CREATE TABLE backup AS TABLE segment_leases_taken')
  return () =>
    stores.pg.transaction(async (tx) => {
      await tx.query('TRUNCATE segment_leases_taken')
      await tx.query('INSERT INTO segment_leases_taken TABLE backup')
      await tx.query(`UPDATE segment_leases_taken SET updated_at = now() - interval '1 day'`)
      await tx.query(`SELECT setval('segment_leases', $1)`, [sequence!.last])
    })
}

test('while ingest runs on, a new node gets no lease that another has taken since the backup', async () => {
  const restore = await backUp()
  const idle = await start('idle')
  await restore()
  // The idle node publishes its mark again.
  await vi.waitFor(async () => expect(await marks()).toHaveLength(2), { timeout: 60_000, interval: 50 })
  const ids = [await storeEvent(await start('new')), await storeEvent(idle)]
  expect(new Set(ids.map(leaseOf)).size).toBe(2)
})

test('after `restore numbers`, a new node gets no lease of a node that stands still and has stored nothing', async () => {
  const restore = await backUp()
  const idle = await start('idle')
  await idle.stop('SIGKILL')
  await restore()
  expect((await svc('restore', 'numbers')).code).toBe(0)
  const ids = [await storeEvent(await start('new')), await storeEvent(await start('idle'))]
  expect(new Set(ids.map(leaseOf)).size).toBe(2)
})

test('a node that starts makes sure of its unused lease before another starts', async () => {
  const restore = await backUp()
  const idle = await start('idle')
  await idle.stop('SIGKILL')
  await restore()
  const again = await start('idle')
  await again.stop('SIGKILL')
  await stores.pg.query('TRUNCATE segment_leases_taken')
  const ids = [await storeEvent(await start('new')), await storeEvent(await start('idle'))]
  expect(new Set(ids.map(leaseOf)).size).toBe(2)
})
