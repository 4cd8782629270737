import { describe, expect, it, vi } from 'vitest'
import { sleep } from '../../runtime/retry.ts'
import type { ProcessName } from '../../start/dev-file.ts'
import { exactFigures, judgeFigures } from '../support/figures.ts'
import { untilShipped } from '../support/ingest.ts'
import { exact, judge, type Ledger, openLedger, type StoredEvent, storedEventsSql } from '../support/ledger.ts'
import { isWell, setUpProduct, targetOf, withStores } from '../support/product.ts'
import { drawsOf, isLong } from '../support/short-form.ts'

const draw = drawsOf('kill')
const processes = ['ingest', 'clickhouse', 'redis', 'postgres', 'pipeline'] as const
const groupRounds = isLong ? 10 : 1
/**
 * Processes to kill in each round. The short form kills each process once under one load. The long form kills each
 * alone, the one that acknowledges most.
 */
const plans: readonly (readonly [string, readonly (readonly ProcessName[])[]])[] = isLong
  ? processes.map((name) => [name, Array.from({ length: name === 'ingest' ? 30 : 10 }, () => [name])])
  : [['each process in turn', [processes]]]
const roundMs = isLong ? 4_000 : 2_500
const patience = { timeout: 60_000 }
/** In short only against hanging: other files use the machine. */
const readyWithinMs = isLong ? 5_000 : 60_000

const running = setUpProduct('kill')
const target = targetOf(() => running.product)

/** Load for a round, with `strike` at a random moment in it. */
async function strikeUnderLoad(strike: () => Promise<void> | void): Promise<Ledger> {
  const ledger = openLedger()
  const at = 300 + draw() * (roundMs - 1_000)
  await ledger.runDuring(target, async () => {
    await sleep(at)
    await strike()
    await sleep(roundMs - at)
    await vi.waitUntil(() => ledger.acknowledged > 100, patience)
  })
  return ledger
}

/** Waits until another process answers in place of the one that was killed; @returns how long it took, in milliseconds. */
async function untilReplaced(name: ProcessName, pidBefore: number | null): Promise<number> {
  const since = Date.now()
  await vi.waitUntil(() => ![null, pidBefore].includes(running.product.dev.pids[name]), patience)
  if (name === 'ingest') {
    await vi.waitUntil(() => isWell(`${running.product.dev.tracking_url}/health`), { ...patience, interval: 20 })
  }
  return Date.now() - since
}

async function expectExact(ledger: Ledger): Promise<void> {
  await untilShipped(running.product.dev.tracking_url)
  await withStores(running.product, async (stores) => {
    // Nothing may have waited for it since it was killed.
    await vi.waitUntil(() => stores.pg.ping(), patience)
    expect(judge(ledger, await stores.ch.query<StoredEvent>(storedEventsSql))).toEqual(exact)
    // Beside the pipeline, which folds as well.
    expect(await judgeFigures(stores)).toEqual(exactFigures)
  })
}

describe.each(plans)('kill -9 of %s under load', (_, rounds) => {
  it(
    `loses and doubles no acknowledged event, in rows and figures, in rounds: ${rounds.length}`,
    async () => {
      for (const names of rounds) {
        const ledger = await strikeUnderLoad(async () => {
          for (const name of names) {
            const pidBefore = running.product.dev.pids[name]
            running.product.kill(name)
            const readyMs = await untilReplaced(name, pidBefore)
            if (name === 'ingest') expect(readyMs).toBeLessThan(readyWithinMs)
          }
        })
        await expectExact(ledger)
      }
    },
    600_000 + rounds.length * 60_000,
  )
})

describe('kill -9 of the whole process group under load', () => {
  it(`loses and doubles no acknowledged event, in rows and figures, in rounds: ${groupRounds}`, async () => {
    for (let round = 0; round < groupRounds; round++) {
      await expectExact(await strikeUnderLoad(() => running.restart()))
    }
  }, 900_000)
})
