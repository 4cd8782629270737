/**
 * Hundreds of senders (two thousand in the long form) that drip or say nothing, at the front port and at ingest's own.
 * They are cut, and nobody else notices. How much slower the others' answers are is printed, and judged in the long
 * form.
 */
import { expect, test } from 'vitest'
import { median, percentile } from '../../bench/load/latency.ts'
import { sleep } from '../../runtime/retry.ts'
import { openLedger } from '../support/ledger.ts'
import { setUpProduct } from '../support/product.ts'
import { runBeside } from '../support/service-process.ts'
import { isLong } from '../support/short-form.ts'

const rounds = isLong ? 5 : 1
const connections = isLong ? 2_000 : 200
/**
 * Headers and a body have 10 s to arrive. At ingest's own port it is uSockets that cuts who sends no whole headers: it looks
 * every 4 s. In short a limit only against senders that nobody cuts: other files use the machine.
 */
const cutWithinMs = isLong ? { front: 11_000, ingest: 13_000 } : { front: 120_000, ingest: 120_000 }
/** How many times longer the slowest of a hundred answers to others may take, in the middle one of the long form's rounds. */
const slowerMax = 2
/** Pause of each of the others between two events. In short they are there to be answered, not to be measured. */
const pauseMs = isLong ? 120 : 1_000
const quietMs = isLong ? 10_000 : 1_000

const running = setUpProduct()

/** Others send events during the work, and each is taken. @returns how long the slowest of a hundred answers took, in milliseconds */
async function p99During(port: number, work: () => Promise<void>): Promise<number> {
  const ledger = openLedger({ pauseMs })
  const { tracking_key: trackingKey } = running.product.dev
  await ledger.runDuring(() => ({ trackingUrl: `http://127.0.0.1:${port}/api/v1/growth`, trackingKey }), work, 0)
  expect([...ledger.failures]).toEqual([])
  return percentile(
    ledger.tookMs.toSorted((a, b) => a - b),
    0.99,
  )
}

// In short both at once: most of it is waiting.
const cutting = isLong ? test : test.concurrent
cutting.each(['front', 'ingest'] as const)(
  `%s cuts ${connections} senders at a byte a second by their deadline, and answers all others meanwhile`,
  async (where) => {
    const { dev } = running.product
    const port = Number(new URL(where === 'front' ? dev.base_url : dev.tracking_url).port)
    const quietP99Ms = await p99During(port, () => sleep(quietMs))
    const ratios: number[] = []
    for (let round = 0; round < rounds; round++) {
      /** How long the server let each of them, in milliseconds. */
      let lasted: number[] = []
      const p99Ms = await p99During(port, async () => {
        lasted = await runBeside('test/support/slow-senders.ts', port, connections)
      })
      const slower = p99Ms / quietP99Ms
      process.stdout.write(
        `${where}: the others' p99 was ${slower.toFixed(1)} times that without slow senders; the last was cut after ${(Math.max(...lasted) / 1000).toFixed(1)} s\n`,
      )
      expect(lasted).toHaveLength(connections)
      expect(Math.max(...lasted)).toBeLessThan(cutWithinMs[where])
      ratios.push(slower)
    }
    if (isLong) expect(median(ratios)).toBeLessThan(slowerMax)
  },
  300_000 * rounds,
)
