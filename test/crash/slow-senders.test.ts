/** Senders that drip, at the front port and at ingest's own: they are cut, and nobody else notices. */
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startProduct, type TestProduct } from '../support/product.ts'

const isLong = process.env['FAULTS'] === 'long'
const connections = isLong ? 2_000 : 200
/** A body has 10 s to arrive; the check for it comes once a second. */
const cutWithinMs = 13_000

let dataDir: string
let product: TestProduct

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'svc-slow-'))
  product = await startProduct(dataDir)
}, 120_000)
afterAll(async () => {
  await product?.stop()
  rmSync(dataDir, { recursive: true, force: true })
}, 120_000)

/** Sends `head`, then a byte a second; resolves to how long the server let it. */
function drip(port: number, head: string): Promise<number> {
  const startedAt = Date.now()
  const socket = connect(port, '127.0.0.1', () => socket.write(head))
  const timer = setInterval(() => socket.write('x'), 1_000)
  return new Promise((resolve) => {
    // A reset is how a server closes on a client that is still sending.
    socket.on('error', () => {})
    socket.on('close', () => {
      clearInterval(timer)
      resolve(Date.now() - startedAt)
    })
    socket.resume()
  })
}

test.each(['front', 'ingest'] as const)(
  '%s cuts headers and bodies at a byte a second, and answers others meanwhile',
  async (where) => {
    const port = Number(new URL(where === 'front' ? product.dev.base_url : product.dev.tracking_url).port)
    const slowHeaders = 'POST /api/v1/growth/track HTTP/1.1\r\nHost: x\r\nX: '
    const slowBody = 'POST /api/v1/growth/track HTTP/1.1\r\nHost: x\r\nContent-Length: 60000\r\n\r\n{'
    const dripping = Array.from({ length: connections }, (_, i) => drip(port, i % 2 ? slowHeaders : slowBody))

    const track = `http://127.0.0.1:${port}/api/v1/growth/track`
    const event = {
      tracking_key: product.dev.tracking_key,
      event_type: 'track',
      event_name: 'pageview',
      url: 'https://example.com/',
    }
    const statuses = new Set<number>()
    for (let i = 0; i < 40; i++) {
      const answer = await fetch(track, {
        method: 'POST',
        body: JSON.stringify({ ...event, anonymous_id: `a${i}` }),
        signal: AbortSignal.timeout(5_000),
      })
      statuses.add(answer.status)
      await answer.arrayBuffer()
      await wait(50)
    }
    expect([...statuses]).toEqual([202])
    for (const lastedMs of await Promise.all(dripping)) expect(lastedMs).toBeLessThan(cutWithinMs)
  },
  60_000,
)
