/**
 * kill -9 of ingest under load, with another number of workers at each start. The next process goes on in the lease of
 * segment numbers that the one before had, beyond what was used.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { sleep } from '../../runtime/retry.ts'
import { exactFigures, judgeFigures } from '../support/figures.ts'
import { startIngest, type TestIngest } from '../support/ingest.ts'
import { exact, judge, openLedger, type StoredEvent, storedEventsSql } from '../support/ledger.ts'
import { drawsOf, isLong } from '../support/short-form.ts'
import { freshStores, type TestStores } from '../support/stores.ts'

const workers = isLong ? [2, 2, 1, 2, 4, 1, 3, 2, 2, 1, 2, 4] : [1, 2, 1]
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
  `loses and doubles no acknowledged event and gives no id twice, with ${workers.join(', ')} workers one after the other`,
  async () => {
    ingest = await start(1)
    const ledger = openLedger()
    const leases = new Set<number>()
    const target = () => ({ trackingUrl: ingest.url, trackingKey: ingest.key })
    await ledger.runDuring(target, async () => {
      for (const count of workers) {
        await sleep(roundMs / 2 + draw() * roundMs)
        for (const { end } of leasesOnDisk()) leases.add(end)
        await ingest.stop('SIGKILL')
        ingest = await start(count)
      }
      await sleep(roundMs)
    })
    await ingest.shipped()
    const answered = [...ledger.told.values()].flatMap(({ id }) => (id === null ? [] : [id]))
    expect(answered.length).toBeGreaterThan(20 * workers.length)
    expect(new Set(answered).size).toBe(answered.length)
    expect(leases.size).toBe(1)
    expect(judge(ledger, await stores.ch.query<StoredEvent>(storedEventsSql))).toEqual(exact)
    expect(await judgeFigures(stores)).toEqual(exactFigures)
  },
  300_000 + workers.length * 30_000,
)

/** Leases of the first worker. */
function leasesOnDisk(): { end: number }[] {
  const file = join(stores.dataDir, 'ingest', 'segment-leases.json')
  return (JSON.parse(readFileSync(file, 'utf8')) as { leases: { end: number }[] }).leases
}
