/** Inserts that hang past the client's deadline and are committed after it: settled by asking, never by sending blindly. */
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { connectClickHouse } from '../../clickhouse/client.ts'
import { leaseSegments } from '../../postgres/tables/operation/segment-leases.ts'
import { createWorkspace } from '../../postgres/tables/workspaces/workspaces.ts'
import { sleep } from '../../runtime/retry.ts'
import { segmentLeaseSize } from '../../schemas/limits/log-limits.ts'
import { countedOnce, exactFigures, judgeFigures } from '../support/figures.ts'
import { foldAll } from '../support/fold.ts'
import { type Lateness, startLateProxy } from '../support/late-proxy.ts'
import { countingNumbers } from '../support/log-fixture.ts'
import { drawsOf, isLong } from '../support/short-form.ts'
import { freshStores } from '../support/stores.ts'
import { claimsOf, markStoreOf, openEventsNode, storedUrls } from '../support/stream-fixture.ts'

const rounds = isLong ? 20 : 1
const draw = drawsOf('late-inserts')
const insertDeadlineMs = 400
/** Longer than the deadline, and than the first attempts to settle. */
const lateMs = 1_500
const onTime: Lateness = { insertMs: 0, answerMs: 0 }

/** Stores and a node of a test's own: most of a test is waiting, so they all run at once. */
async function makeWorld() {
  const stores = await freshStores()
  // Events of a node under test are of workspace 1.
  await stores.pg.transaction((tx) => createWorkspace(tx, { name: 'First', timezone: 'UTC', plan: 'growth' }))
  const numbers = countingNumbers(await leaseSegments(stores.pg, segmentLeaseSize))
  const claims = claimsOf(stores)
  /** Plans for the next inserts. */
  const plan: Lateness[] = []
  const proxy = await startLateProxy(stores.clickhouseUrl, () => plan.shift() ?? onTime)
  const clickhouse = connectClickHouse(proxy.url)
  const node = { stores, folder: join(stores.dataDir, 'node'), clickhouse, claims, numbers, insertDeadlineMs }
  return {
    stores,
    proxy,
    plan,
    open: () => openEventsNode({ ...node, markStore: markStoreOf(stores) }),
    close: async () => {
      await clickhouse.close()
      await proxy.close()
      await claims.close()
      await stores.close()
    },
  }
}

const late = (ms: number): Lateness => ({ insertMs: ms, answerMs: 0 })
const unheard: Lateness = { insertMs: 0, answerMs: lateMs }

/** Sends rows again and again with what `lateness` says of their inserts, then waits until no insert can be on its way. */
async function shipIn(
  world: Awaited<ReturnType<typeof makeWorld>>,
  lateness: () => Lateness[],
  restarts: boolean,
): Promise<void> {
  const sent: string[] = []
  let node = await world.open()
  for (let round = 0; round < rounds; round++) {
    world.plan.splice(0, world.plan.length, ...lateness())
    const planned = world.plan.length
    const urls = Array.from(
      { length: 30 },
      (_, row) => `${String(round).padStart(2, '0')}-${String(row).padStart(2, '0')}`,
    )
    await node.append(urls)
    sent.push(...urls)
    if (restarts) {
      while (world.plan.length === planned) await sleep(20)
      await node.abandon()
      node = await world.open()
    }
    await node.shipped()
    // Events are folded while an insert may still be on its way.
    await foldAll(world.stores)
  }
  await sleep(lateMs + 500)
  await node.abandon()
  expect(await storedUrls(world.stores.ch, 'events')).toEqual(sent.sort())
  expect(await judgeFigures(world.stores, isLong ? 'all' : 'none')).toEqual(isLong ? exactFigures : countedOnce)
}

/** In short the last case draws ones like it; none of those is as late as the others. */
const shortlyAfter: [string, () => Lateness[]] = [
  'arrives shortly after the deadline',
  () => [late(insertDeadlineMs + draw() * 300)],
]

test.concurrent.each<[string, () => Lateness[], boolean?]>([
  ['arrives after the rows were sent again', () => [late(lateMs)]],
  ['arrives after its process was replaced', () => [late(lateMs)], true],
  ['arrives while the rows are sent again, which is late as well', () => [late(lateMs), late(lateMs), late(lateMs)]],
  ...(isLong ? [shortlyAfter] : []),
  ['is committed, and its answer comes too late', () => [unheard]],
  ['is late in any way, as are those that follow', () => Array.from({ length: 4 }, randomLateness)],
])(
  'an insert that %s stores each row once, and figures count it once',
  async (_, lateness, restarts = false) => {
    const world = await makeWorld()
    try {
      await shipIn(world, lateness, restarts)
      if (lateness()[0]!.insertMs >= lateMs) expect(world.proxy.abandoned).toBeGreaterThan(0)
    } finally {
      await world.close()
    }
  },
  300_000 * rounds,
)

function randomLateness(): Lateness {
  const ms = () => Math.floor(draw() * lateMs)
  return { insertMs: ms(), answerMs: draw() < 0.5 ? 0 : ms() }
}
