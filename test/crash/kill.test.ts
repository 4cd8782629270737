import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sleep } from '../../runtime/retry.ts'
import {
  exact,
  judge,
  type Ledger,
  openLedger,
  type StoredEvent,
  storedEventsSql,
  type Verdict,
} from '../support/ledger.ts'
import { askClickHouse, startProduct, type TestProduct, targetOf, waitUntilShipped } from '../support/product.ts'

const isLong = process.env['FAULTS'] === 'long'
const rounds = isLong ? 10 : 1
const roundMs = isLong ? 4_000 : 2_500

let dataDir: string
let product: TestProduct

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'svc-kill-'))
  product = await startProduct(dataDir)
}, 120_000)
afterAll(async () => {
  await product?.stop()
  rmSync(dataDir, { recursive: true, force: true })
}, 120_000)

/** Load for a round, with `strike` at a random moment in it. */
async function strikeUnderLoad(strike: () => Promise<void> | void): Promise<Ledger> {
  const ledger = openLedger()
  const stop = new AbortController()
  const running = ledger.run(
    targetOf(() => product),
    stop.signal,
  )
  const at = 300 + Math.random() * (roundMs - 1_000)
  await sleep(at)
  await strike()
  await sleep(roundMs - at)
  stop.abort()
  await running
  return ledger
}

async function verdict(ledger: Ledger): Promise<Verdict> {
  return judge(ledger, await askClickHouse<StoredEvent>(product, storedEventsSql))
}

describe.each(['ingest', 'clickhouse', 'redis', 'postgres'] as const)('kill -9 of %s under load', (name) => {
  it(`loses and doubles no acknowledged event, in ${rounds} rounds`, async () => {
    for (let round = 0; round < rounds; round++) {
      const pidBefore = product.dev.pids[name]
      const ledger = await strikeUnderLoad(() => product.kill(name))
      expect(ledger.acknowledged).toBeGreaterThan(100)
      expect(product.dev.pids[name]).not.toBe(pidBefore)
      await waitUntilShipped(product)
      expect(await verdict(ledger)).toEqual(exact)
    }
  }, 600_000)
})

describe('kill -9 of the whole process group under load', () => {
  it(`loses and doubles no acknowledged event, in ${rounds} rounds`, async () => {
    for (let round = 0; round < rounds; round++) {
      const ledger = await strikeUnderLoad(async () => {
        await product.killGroup()
        product = await startProduct(dataDir)
      })
      expect(ledger.acknowledged).toBeGreaterThan(50)
      await waitUntilShipped(product)
      expect(await verdict(ledger)).toEqual(exact)
    }
  }, 900_000)
})
