/** Inserts that hang past the client's deadline and are committed after it: settled by asking, never by sending blindly. */
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type ClickHouse, connectClickHouse } from '../../clickhouse/client.ts'
import type { Claims } from '../../ingest/ship/claim.ts'
import { aggregate } from '../../pipeline/aggregate/run.ts'
import { leaseSegments } from '../../postgres/tables/segment-leases.ts'
import { sleep } from '../../runtime/retry.ts'
import { segmentLeaseSize } from '../../schemas/limits.ts'
import type { EventRow } from '../../schemas/row.ts'
import { aggregateAll, exactAggregates, judgeAggregates, workOn } from '../support/aggregates.ts'
import { type Lateness, type LateProxy, startLateProxy } from '../support/late-proxy.ts'
import { countingNumbers } from '../support/log-fixture.ts'
import { freshStores, type TestStores } from '../support/stores.ts'
import { claimsOf, markStoreOf, openEventsNode, storedUrls, type TestNode } from '../support/stream-fixture.ts'

const rounds = process.env['FAULTS'] === 'long' ? 20 : 1
const insertDeadlineMs = 400
/** Longer than the deadline, and than the first attempts to settle. */
const lateMs = 1_500
const onTime: Lateness = { insertMs: 0, answerMs: 0 }

let stores: TestStores
let claims: Claims
let proxy: LateProxy
let clickhouse: ClickHouse
let plan: Lateness[] = []
let numbers: ReturnType<typeof countingNumbers>

beforeEach(async () => {
  stores = await freshStores()
  numbers = countingNumbers(await leaseSegments(stores.pg, segmentLeaseSize))
  claims = claimsOf(stores)
  proxy = await startLateProxy(stores.clickhouseUrl, () => plan.shift() ?? onTime)
  clickhouse = connectClickHouse(proxy.url)
})
afterEach(async () => {
  await clickhouse.close()
  await proxy.close()
  await claims.close()
  await stores.close()
})

const open = (folder: string) =>
  openEventsNode({ stores, folder, clickhouse, claims, numbers, insertDeadlineMs, markStore: markStoreOf(stores) })
const late = (ms: number): Lateness => ({ insertMs: ms, answerMs: 0 })
const unheard: Lateness = { insertMs: 0, answerMs: lateMs }

/** Sends rows again and again with what `lateness` says of their inserts, then waits until no insert can be on its way. */
async function shipThrough(lateness: () => Lateness[], restarts: boolean): Promise<void> {
  const sent: string[] = []
  let node: TestNode<EventRow> = await open(join(stores.dataDir, 'node'))
  for (let round = 0; round < rounds; round++) {
    plan = lateness()
    const planned = plan.length
    const urls = Array.from(
      { length: 30 },
      (_, row) => `${String(round).padStart(2, '0')}-${String(row).padStart(2, '0')}`,
    )
    await node.append(urls)
    sent.push(...urls)
    if (restarts) {
      while (plan.length === planned) await sleep(20)
      await node.abandon()
      node = await open(join(stores.dataDir, 'node'))
    }
    await node.shipped()
    // Aggregates are built while an insert may still be on its way.
    await aggregate(workOn(stores))
  }
  await sleep(lateMs + 500)
  await node.abandon()
  expect(await storedUrls(stores.ch, 'events')).toEqual(sent.sort())
  await aggregateAll(stores)
  expect(await judgeAggregates(stores)).toEqual(exactAggregates)
}

test.each([
  ['arrives after the rows were sent again', () => [late(lateMs)]],
  ['arrives while the rows are sent again, which is late as well', () => [late(lateMs), late(lateMs), late(lateMs)]],
  ['arrives shortly after the deadline', () => [late(insertDeadlineMs + Math.random() * 300)]],
  ['is committed, and its answer comes too late', () => [unheard]],
  ['is late in any way, as are those that follow', () => Array.from({ length: 4 }, randomLateness)],
])(
  'an insert that %s stores each row once, and aggregates count it once',
  async (_, lateness) => {
    await shipThrough(lateness, false)
    if (lateness()[0]!.insertMs >= lateMs) expect(proxy.abandoned).toBeGreaterThan(0)
  },
  30_000 * rounds,
)

test(
  'an insert that arrives after its process was replaced stores each row once, and aggregates count it once',
  async () => {
    await shipThrough(() => [late(lateMs)], true)
    expect(proxy.abandoned).toBeGreaterThan(0)
  },
  30_000 * rounds,
)

function randomLateness(): Lateness {
  const ms = () => Math.floor(Math.random() * lateMs)
  return { insertMs: ms(), answerMs: Math.random() < 0.5 ? 0 : ms() }
}
