/** Ingest nodes and a Postgres that was restored from a backup: it has forgotten the leases that were taken since. */
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { segmentLeaseSize, segmentRowsMax } from '../../schemas/limits/log-limits.ts'
import { runSvc } from '../support/command-line.ts'
import { insertEventRows, makeEventRow } from '../support/event-rows.ts'
import { countedOnce, judgeFigures } from '../support/figures.ts'
import { startIngest, type TestIngest } from '../support/ingest.ts'
import { setUpStores } from '../support/stores.ts'

const stores = setUpStores()
/** Runs through all tests, until the last one stops it. */
let first: TestIngest
let nodes: TestIngest[] = []
let tests = 0

beforeAll(async () => {
  first = await startIngest(stores)
})
/** As before any other node: its event is the only one, and its mark and its lease are the last ones. */
beforeEach(async () => {
  tests += 1
  await stores.ch.command('TRUNCATE TABLE events')
  const lease = leaseOf(await storeEvent(first))
  await stores.pg.query('TRUNCATE segment_leases_taken')
  await stores.pg.query(`SELECT setval('segment_leases', $1)`, [lease])
  await untilMarks(1)
})
afterEach(async () => {
  await Promise.all(nodes.map((node) => node.stop('SIGKILL')))
  nodes = []
  await stores.pg.query('DROP TABLE IF EXISTS backup')
})
afterAll(() => first?.stop('SIGKILL'))

/** @param name of a node, whose folder is there for this test alone */
async function start(name: string): Promise<TestIngest> {
  const node = await startIngest(stores, { DATA_DIR: join(stores.dataDir, `${name} ${tests}`) }, first)
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

/** Nodes publish their marks now and then. */
const untilMarks = (count: number) =>
  vi.waitFor(async () => expect(await marks()).toHaveLength(count), { timeout: 60_000, interval: 50 })

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
  await untilMarks(2)
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

test('events of nodes that were drained since the backup are named by a check, and counted after `restore marks`', async () => {
  const restore = await backUp()
  const second = await start('second')
  const ids = [await storeEvent(first), await storeEvent(second), await storeEvent(second)]
  const running = await start('running')
  const ofRunning = await storeEvent(running)
  expect(await Promise.all([first.stop(), second.stop()])).toEqual([0, 0])
  await restore()
  await svc('restore', 'numbers')
  await untilMarks(2)

  const workspaces = [first.workspaceId]
  const [a, b] = [ids[0]!, ids[1]!].map((id) => leaseOf(id) * segmentLeaseSize)
  const leftOut = [
    { lease: a, rows: 1, workspaces },
    { lease: b, rows: 2, workspaces },
  ]
  expect(await svc('figures', 'check')).toMatchObject({ code: 1, said: { differences: [], left_out: leftOut } })
  // Ids of a node that runs are its own affair.
  const end = (leaseOf(ofRunning) + 1) * segmentLeaseSize * segmentRowsMax - 1
  await insertEventRows(stores.ch, [makeEventRow({ id: end, workspace_id: 9_999, occurred_at: Date.now() })])
  expect(await svc('restore', 'marks')).toEqual({ code: 0, said: leftOut })
  expect((await marks()).find(({ lease }) => lease === leaseOf(end))!.through).toBeLessThan(end)
  await stores.ch.command('DELETE FROM events WHERE workspace_id = 9999 SETTINGS lightweight_deletes_sync = 2')
  expect(await judgeFigures(stores, 'none')).toEqual(countedOnce)
  expect(await svc('figures', 'check')).toMatchObject({ code: 0, said: { differences: [], left_out: [] } })
})
