import { describe, expect, it, vi } from 'vitest'
import { sleep } from '../../runtime/retry.ts'
import { aggregateAll, exactAggregates, judgeAggregates } from '../support/aggregates.ts'
import { untilShipped } from '../support/ingest.ts'
import { exact, judge, type Ledger, openLedger, type StoredEvent, storedEventsSql } from '../support/ledger.ts'
import { setUpProduct, targetOf, withStores } from '../support/product.ts'
import { isLong, someOf } from '../support/short-form.ts'

const rounds = isLong ? 10 : 1
const roundMs = isLong ? 4_000 : 2_500
const patience = { timeout: 60_000 }

const running = setUpProduct('kill')
const target = targetOf(() => running.product)

/** Load for a round, with `strike` at a random moment in it. */
async function strikeUnderLoad(strike: () => Promise<void> | void): Promise<Ledger> {
  const ledger = openLedger()
  const at = 300 + Math.random() * (roundMs - 1_000)
  await ledger.runDuring(target, async () => {
    await sleep(at)
    await strike()
    await sleep(roundMs - at)
    await vi.waitUntil(() => ledger.acknowledged > 100, patience)
  })
  return ledger
}

async function expectExact(ledger: Ledger): Promise<void> {
  await untilShipped(running.product.dev.tracking_url)
  await withStores(running.product, async (stores) => {
    // Nothing may have waited for it since it was killed.
    await vi.waitUntil(() => stores.pg.ping(), patience)
    expect(judge(ledger, await stores.ch.query<StoredEvent>(storedEventsSql))).toEqual(exact)
    // Beside the pipeline, which does the same every few seconds.
    await aggregateAll(stores)
    expect(await judgeAggregates(stores)).toEqual(exactAggregates)
  })
}

describe.each(someOf(['ingest', 'clickhouse', 'redis', 'postgres', 'pipeline'] as const, 2))(
  'kill -9 of %s under load',
  (name) => {
    it(`loses and doubles no acknowledged event, in rows and aggregates, in ${rounds} rounds`, async () => {
      for (let round = 0; round < rounds; round++) {
        const pidBefore = running.product.dev.pids[name]
        const ledger = await strikeUnderLoad(() => running.product.kill(name))
        expect(ledger.acknowledged).toBeGreaterThan(100)
        await vi.waitUntil(() => ![null, pidBefore].includes(running.product.dev.pids[name]), patience)
        await expectExact(ledger)
      }
    }, 600_000)
  },
)

describe('kill -9 of the whole process group under load', () => {
  it(`loses and doubles no acknowledged event, in rows and aggregates, in ${rounds} rounds`, async () => {
    for (let round = 0; round < rounds; round++) {
      const ledger = await strikeUnderLoad(() => running.restart())
      expect(ledger.acknowledged).toBeGreaterThan(50)
      await expectExact(ledger)
    }
  }, 900_000)
})
