/**
 * Hundreds of senders (two thousand in the long form) that drip or say nothing, at the front port and at ingest's own.
 * They are cut, and nobody else notices. How much slower the others' answers are is printed, and judged in the long
 * form.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { median, percentile } from '../../bench/load/latency.ts'
import { sleep } from '../../runtime/retry.ts'
import { compileService } from '../support/compile.ts'
import { setUpProduct } from '../support/product.ts'
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
/** A limit against hanging. */
const answerWithinMs = isLong ? 20_000 : 60_000
const lanes = 8
/** Pause of each of the others between two events. In short they are there to be answered, not to be measured. */
const pauseMs = isLong ? 20 : 200
const quietMs = isLong ? 10_000 : 1_000

const running = setUpProduct('slow')

/** @returns how long the server let each of the senders of a process of their own, in milliseconds */
async function sendAllSlowly(port: number): Promise<number[]> {
  const file = await compileService('test/support/slow-senders.ts')
  const child = fork(file, [String(port), String(connections)], { execArgv: [] })
  const [lasted] = await Promise.race([
    once(child, 'message') as Promise<[number[]]>,
    once(child, 'exit').then(([code]) => {
      throw new Error(`the slow senders ended with exit code ${code}`)
    }),
  ])
  return lasted
}

/** Sends events until `isOver`, a few at a time; answers their statuses and how long they took. */
async function sendEvents(port: number, isOver: () => boolean): Promise<{ statuses: number[]; p99Ms: number }> {
  const statuses = new Set<number>()
  const took: number[] = []
  const send = async (anonymous_id: string) => {
    const startedAt = performance.now()
    const answer = await fetch(`http://127.0.0.1:${port}/api/v1/growth/track`, {
      method: 'POST',
      body: JSON.stringify({ tracking_key: running.product.dev.tracking_key, event_name: 'pageview', anonymous_id }),
      signal: AbortSignal.timeout(answerWithinMs),
    })
    await answer.arrayBuffer()
    statuses.add(answer.status)
    took.push(performance.now() - startedAt)
  }
  const lane = async (number: number) => {
    for (let sent = 0; !isOver(); sent++) {
      await send(`${number}-${sent}`)
      await sleep(pauseMs)
    }
  }
  await Promise.all(Array.from({ length: lanes }, (_, number) => lane(number)))
  took.sort((a, b) => a - b)
  return { statuses: [...statuses], p99Ms: percentile(took, 0.99) }
}

// In short both at once: most of it is waiting.
const cutting = isLong ? test : test.concurrent
cutting.each(['front', 'ingest'] as const)(
  `%s cuts ${connections} senders at a byte a second by their deadline, and answers all others meanwhile`,
  async (where) => {
    const { dev } = running.product
    const port = Number(new URL(where === 'front' ? dev.base_url : dev.tracking_url).port)
    const quietUntil = Date.now() + quietMs
    const quiet = await sendEvents(port, () => Date.now() > quietUntil)
    const ratios: number[] = []
    for (let round = 0; round < rounds; round++) {
      let isOver = false
      const dripping = sendAllSlowly(port).finally(() => {
        isOver = true
      })
      const others = await sendEvents(port, () => isOver)
      const lasted = await dripping
      const slower = others.p99Ms / quiet.p99Ms
      process.stdout.write(
        `${where}: the others' p99 was ${slower.toFixed(1)} times that without slow senders; the last was cut after ${(Math.max(...lasted) / 1000).toFixed(1)} s\n`,
      )
      expect(lasted).toHaveLength(connections)
      expect(others.statuses).toEqual([202])
      expect(Math.max(...lasted)).toBeLessThan(cutWithinMs[where])
      ratios.push(slower)
    }
    if (isLong) expect(median(ratios)).toBeLessThan(slowerMax)
  },
  300_000 * rounds,
)
