/** Receivers that hang, trickle, flood, redirect or can't be trusted: their own deliveries suffer, and nobody else's. */
import { createServer, type Server, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { webhookAnswerBytesMax, webhookAttemptMs, webhookInFlightMax } from '../../schemas/limits/webhook-limits.ts'
import { makeWorkspace } from '../support/api.ts'
import { listening } from '../support/listening.ts'
import { asking } from '../support/publishing.ts'
import { type Receiver, setUpReceiver, startReceiver } from '../support/receiver.ts'
import { selfSigned } from '../support/self-signed.ts'
import { patience, setUpWebhooks } from '../support/webhooks.ts'

const { stores, api, register, makeLink, deliveries, untilDelivery } = setUpWebhooks()

const receiver = setUpReceiver()
let untrusted: Receiver
let raw: Server
const rawSockets = new Set<Socket>()
let rawAnswer = ''
let rawUrl: string
beforeAll(async () => {
  untrusted = await startReceiver(selfSigned)
  raw = createServer((socket) => {
    rawSockets.add(socket)
    socket.on('error', () => {})
    socket.on('data', () => rawAnswer !== '' && socket.write(rawAnswer))
  })
  rawUrl = (await listening(raw)).url
})
afterAll(async () => {
  for (const socket of rawSockets) socket.destroy()
  raw?.close()
  await untrusted?.close()
})

describe('what is recorded of an attempt on a receiver that', () => {
  const afterOne = () => untilDelivery(({ attempt_count }) => attempt_count === 1)

  test('answers with a flood: the first kilobyte, and the connection is cut', async () => {
    let written = 0
    receiver.behaviour = (_, response) => {
      const more = () => {
        while (!response.destroyed && response.write('ä'.repeat(8_192))) written += 16_384
        if (!response.destroyed) response.once('drain', more)
      }
      more()
    }
    await register(receiver.url)
    await makeLink()
    const { status, response_body, response_status } = await afterOne()
    expect([status, response_status, response_body]).toEqual(['delivered', 200, 'ä'.repeat(512)])
    const after = written
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect(written).toBe(after)
    // Beyond what is read there is what the kernel holds.
    expect(written).toBeLessThan(webhookAnswerBytesMax + 16 * 2 ** 20)
  })

  test.each([
    ['redirects to a link-local address', 302, { location: 'http://169.254.169.254/latest/meta-data' }],
    ['says nothing but a status', 404, {}],
  ])('%s', async (_, status, headers) => {
    receiver.behaviour = (_request, response) => response.writeHead(status, headers).end('a\0b')
    await register(receiver.url)
    await makeLink()
    expect(await afterOne()).toMatchObject({
      status: 'pending',
      response_status: status,
      response_body: 'a\uFFFDb',
      error: `The endpoint answered ${status}`,
    })
    expect(receiver.received).toHaveLength(1)
  })

  test.each([
    ['breaks the connection', () => receiver.url, 'The connection broke'],
    ['has a certificate that nobody signed', () => untrusted.url, 'TLS failed: DEPTH_ZERO_SELF_SIGNED_CERT'],
    ['speaks no HTTP', () => rawUrl, 'The answer is not HTTP, or its headers are too large'],
    ['is not there', () => 'http://127.0.0.1:9', 'The connection was refused'],
  ])('%s', async (_, url, error) => {
    receiver.behaviour = (_request, response) => response.destroy()
    rawAnswer = 'SSH-2.0-OpenSSH_9.2\r\n'
    await register(url())
    await makeLink()
    const about = { status: 'pending', response_status: null, response_body: null, attempt_count: 1 }
    expect(await afterOne()).toMatchObject({ ...about, error, next_attempt_at: expect.any(String) })
  })
})

test('a receiver that hangs, or trickles, is cut at its deadline, and delays nobody else meanwhile', async () => {
  rawAnswer = ''
  const trickling = await startReceiver()
  trickling.behaviour = (_, response) => {
    response.writeHead(500)
    const timer = setInterval(() => response.write('x'), 200)
    response.on('close', () => clearInterval(timer))
  }
  const hanging = [(await register(rawUrl)).id, (await register(trickling.url)).id]
  const hold = (until: string) =>
    stores.pg.query(`UPDATE webhook_endpoints SET held_until = ${until} WHERE id = ANY ($1)`, [hanging])
  // Their deadlines don't run before all is prepared.
  await hold(`now() + interval '1 hour'`)
  const events = Array.from({ length: 3 * webhookInFlightMax }, (_, at) => makeLink(`for those who hang ${at}`))
  await Promise.all(events)

  // Another workspace, and another endpoint of this one.
  const theirs = await makeWorkspace(stores)
  const asThem = asking(api, () => theirs.apiKey)
  await asThem('POST', '/v1/webhooks', { url: `${receiver.url}/theirs` })
  await register(`${receiver.url}/mine`)
  const connectedBefore = rawSockets.size
  const begunAt = Date.now()
  await hold('NULL')
  await vi.waitUntil(() => rawSockets.size > connectedBefore && trickling.received.length > 0, patience)
  await asThem('POST', '/v1/links', { label: 'x', destination_url: 'https://example.com/' })
  await makeLink('for all')
  await vi.waitUntil(() => receiver.received.length >= 2, patience)
  // Before any of those who hang was cut, unless the machine was slower than their deadline.
  const inTime = 'The host did not answer in time'
  const cutBefore = (await deliveries()).filter(({ error }) => error === inTime)
  if (Date.now() - begunAt < webhookAttemptMs) expect(cutBefore).toEqual([])

  const cut = await vi.waitUntil(
    async () => {
      const all = (await deliveries()).filter(({ attempt_count }) => attempt_count === 1)
      const hung = all.find(({ error }) => error === inTime)
      const trickled = all.find(({ response_status }) => response_status === 500)
      return hung && trickled && { hung, trickled }
    },
    { timeout: 60_000, interval: 100 },
  )
  expect(cut.hung).toMatchObject({ status: 'pending', response_status: null })
  expect(cut.trickled).toMatchObject({ status: 'pending', response_body: expect.stringMatching(/^x+$/) })
  for (const { duration_ms } of [cut.hung, cut.trickled]) {
    expect(duration_ms).toBeGreaterThan(webhookAttemptMs - 500)
    expect(duration_ms).toBeLessThan(webhookAttemptMs + 60_000)
  }
  await trickling.close()
})
