/**
 * Senders that drip or say nothing, two thousand at a time, at the front port and at ingest's own: they are cut, and nobody
 * else notices. How much slower the others' answers are is printed, not asserted.
 */
import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { sleep } from '../../runtime/retry.ts'
import { setUpProduct } from '../support/product.ts'
import { isLong } from '../support/short-form.ts'

const rounds = isLong ? 5 : 1
const connections = 2_000
/** At a time, so that the kernel's queue of connections to accept (uSockets asks for 512) never overflows. */
const connectionsAtOnce = 200
/** Headers and a body have 10 s to arrive, and senders that nobody cuts go on for good: a limit against that, on a machine that may be busy. */
const cutWithinMs = 30_000
/** A limit against hanging. */
const answerWithinMs = 20_000
const lanes = 8

const running = setUpProduct('slow')

const begin = 'POST /api/v1/growth/track HTTP/1.1\r\nHost: x\r\n'
const slow = {
  nothing: { head: '', drip: '' },
  headers: { head: `${begin}X: `, drip: 'x' },
  body: { head: `${begin}Content-Length: 60000\r\n\r\n{`, drip: ' ' },
  batch: { head: `${begin.replace('track', 'track/batch')}Content-Length: 900000\r\n\r\n{`, drip: ' ' },
  chunks: { head: `${begin}Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n`, drip: '1\r\n \r\n' },
}

interface SlowSender {
  /** Resolves once the kernel has let it in, or refused it. */
  readonly connected: Promise<unknown>
  /** How long the server let it, in milliseconds. */
  readonly lasted: Promise<number>
}

/** Sends `head`, then `drip` once a second. */
function sendSlowly(port: number, { head, drip }: { head: string; drip: string }): SlowSender {
  let startedAt = Date.now()
  // A sender of nothing hears only by probes that the server knows no connection of its.
  const socket = connect({ port, host: '127.0.0.1', keepAlive: true, keepAliveInitialDelay: 1_000 }, () => {
    startedAt = Date.now()
    socket.write(head)
  })
  const timer = setInterval(() => socket.write(drip), 1_000)
  // A reset is how a server closes on a client that is still sending.
  socket.on('error', () => {})
  const lasted = new Promise<number>((resolve) => {
    socket.on('close', () => {
      clearInterval(timer)
      resolve(Date.now() - startedAt)
    })
    socket.resume()
  })
  return { connected: Promise.race([once(socket, 'connect').catch(() => {}), lasted]), lasted }
}

/** @returns how long the server let each of them, in milliseconds */
async function sendAllSlowly(port: number): Promise<number[]> {
  const kinds = Object.values(slow)
  const lasted: Promise<number>[] = []
  while (lasted.length < connections) {
    const senders = Array.from({ length: connectionsAtOnce }, (_, at) => sendSlowly(port, kinds[at % kinds.length]!))
    lasted.push(...senders.map((sender) => sender.lasted))
    await Promise.all(senders.map((sender) => sender.connected))
  }
  return Promise.all(lasted)
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
      await sleep(20)
    }
  }
  await Promise.all(Array.from({ length: lanes }, (_, number) => lane(number)))
  took.sort((a, b) => a - b)
  return { statuses: [...statuses], p99Ms: took[Math.floor(took.length * 0.99)]! }
}

test.each(['front', 'ingest'] as const)(
  `%s cuts ${connections} senders at a byte a second by their deadline, and answers all others meanwhile`,
  async (where) => {
    const { dev } = running.product
    const port = Number(new URL(where === 'front' ? dev.base_url : dev.tracking_url).port)
    const quietUntil = Date.now() + 2_000
    const quiet = await sendEvents(port, () => Date.now() > quietUntil)
    for (let round = 0; round < rounds; round++) {
      let isOver = false
      const dripping = sendAllSlowly(port).finally(() => {
        isOver = true
      })
      const others = await sendEvents(port, () => isOver)
      const lasted = await dripping
      process.stdout.write(
        `${where}: the others' p99 was ${(others.p99Ms / quiet.p99Ms).toFixed(1)} times that without slow senders; the last was cut after ${(Math.max(...lasted) / 1000).toFixed(1)} s\n`,
      )
      expect(others.statuses).toEqual([202])
      expect(Math.max(...lasted)).toBeLessThan(cutWithinMs)
    }
  },
  180_000 * rounds,
)
