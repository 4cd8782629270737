/** kill -9 of ingest within a lease of segment numbers: the next process goes on in the same lease, beyond what was used. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { sleep } from '../../runtime/retry.ts'
import { startIngest, type TestIngest } from '../support/ingest.ts'
import { exact, judge, openLedger, type StoredEvent, storedEventsSql } from '../support/ledger.ts'
import { drawsOf, isLong } from '../support/short-form.ts'
import { freshStores, type TestStores } from '../support/stores.ts'

const kills = isLong ? 20 : 3
const draw = drawsOf('segment-lease')
/** Several segments are sealed in it. */
const roundMs = 1_000

let stores: TestStores
let ingest: TestIngest

beforeEach(async () => {
  stores = await freshStores()
  ingest = await startIngest(stores)
})
afterEach(async () => {
  await ingest?.stop('SIGKILL')
  await stores.close()
})

test(
  `no id is given twice, over ${kills} kills under load`,
  async () => {
    const ledger = openLedger()
    const target = () => ({ trackingUrl: ingest.url, trackingKey: ingest.key })
    const leases = new Set<number>()
    await ledger.runDuring(target, async () => {
      for (let kill = 0; kill < kills; kill++) {
        await sleep(roundMs + draw() * roundMs)
        for (const { end } of leasesOnDisk()) leases.add(end)
        await ingest.stop('SIGKILL')
        ingest = await startIngest(stores, {}, ingest)
      }
      await sleep(roundMs)
    })
    await ingest.shipped()

    // Restarts didn't take a lease each: they went on within one.
    expect(leases.size).toBe(1)
    const answered = [...ledger.told.values()].flatMap(({ id }) => (id === null ? [] : [id]))
    expect(answered.length).toBeGreaterThan(100 * kills)
    expect(new Set(answered).size).toBe(answered.length)
    expect(judge(ledger, await stores.ch.query<StoredEvent>(storedEventsSql))).toEqual(exact)
  },
  (kills + 2) * 30_000,
)

function leasesOnDisk(): { next: number; end: number }[] {
  const file = join(stores.dataDir, 'ingest', 'segment-leases.json')
  return (JSON.parse(readFileSync(file, 'utf8')) as { leases: { next: number; end: number }[] }).leases
}
