/** kill -9 of ingest with several workers under load, and another number of them at each start. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { sleep } from '../../runtime/retry.ts'
import { exactFigures, judgeFigures } from '../support/figures.ts'
import { startIngest, type TestIngest } from '../support/ingest.ts'
import { exact, judge, openLedger, type StoredEvent, storedEventsSql } from '../support/ledger.ts'
import { drawsOf, isLong } from '../support/short-form.ts'
import { freshStores, type TestStores } from '../support/stores.ts'

const workers = isLong ? [2, 2, 1, 2, 4, 1, 3, 2, 2, 1, 2, 4] : [2, 1, 2]
const roundMs = isLong ? 1_500 : 1_000
const draw = drawsOf('kill-workers')

let stores: TestStores
let ingest: TestIngest

beforeEach(async () => {
  stores = await freshStores()
})
afterEach(async () => {
  await ingest?.stop('SIGKILL')
  await stores.close()
})

const start = (count: number) => startIngest(stores, { INGEST_WORKERS: String(count) }, ingest)

test(
  `loses and doubles no acknowledged event, with ${workers.join(', ')} workers one after the other`,
  async () => {
    ingest = await start(2)
    const ledger = openLedger()
    const target = () => ({ trackingUrl: ingest.url, trackingKey: ingest.key })
    await ledger.runDuring(target, async () => {
      for (const count of workers) {
        await sleep(roundMs / 2 + draw() * roundMs)
        await ingest.stop('SIGKILL')
        ingest = await start(count)
      }
      await sleep(roundMs)
    })
    await ingest.shipped()
    const answered = [...ledger.told.values()].flatMap(({ id }) => (id === null ? [] : [id]))
    expect(answered.length).toBeGreaterThan(100 * workers.length)
    expect(judge(ledger, await stores.ch.query<StoredEvent>(storedEventsSql))).toEqual(exact)
    expect(await judgeFigures(stores)).toEqual(exactFigures)
  },
  (workers.length + 2) * 30_000,
)
