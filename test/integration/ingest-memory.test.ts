/** Ingest's memory under input that nobody should send: bounded, whatever comes and however much of it. */
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sleep } from '../../runtime/retry.ts'
import { arrivingBodiesBytesMax, batchBodyBytesMax } from '../../schemas/limits/event-limits.ts'
import { startIngest, type TestIngest } from '../support/ingest.ts'
import { exchange } from '../support/raw-http.ts'
import { isLong } from '../support/short-form.ts'
import { setUpStores } from '../support/stores.ts'

const MiB = 2 ** 20
/** Beyond what it takes when warm. It was 72 MiB at most, while other files used the machine. */
const growthMax = 100 * MiB
/** Beyond the unfinished bodies themselves. */
const otherGrowthMax = 50 * MiB
const unfinishedBodies = 300
const badRounds = isLong ? 8 : 2
const abandonedRounds = isLong ? 5 : 1

const stores = setUpStores()
let ingest: TestIngest

beforeAll(async () => {
  ingest = await startIngest(stores)
})
afterAll(() => ingest?.stop('SIGKILL'))

/** Bytes in memory: now, and at most since it started. */
function memory(): { now: number; peak: number } {
  const status = readFileSync(`/proc/${ingest.child.pid}/status`, 'latin1')
  const read = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)![1]) * 1024
  return { now: read('VmRSS'), peak: read('VmHWM') }
}

const head = (path: string, ...headers: string[]) =>
  [`POST /api/v1/growth${path} HTTP/1.1`, 'Host: x', ...headers, '', ''].join('\r\n')
const whole = (path: string, body: string | Buffer, ...headers: string[]) => [
  head(path, `Content-Length: ${Buffer.byteLength(body)}`, ...headers),
  body,
]

/** Requests of which nothing is stored, each for another reason. */
function badRequests(): (readonly (string | Buffer)[])[] {
  const envelope = (events: string) => `{"tracking_key":"${ingest.key}","events":${events}}`
  const full = batchBodyBytesMax - 1024
  const many = Math.floor(full / 30)
  return [
    whole('/track/batch', Buffer.alloc(10 * MiB, 'x')),
    [head('/track/batch', 'Content-Length: 10485760', 'Transfer-Encoding: chunked'), Buffer.alloc(MiB, 'x')],
    [head('/track', 'Content-Length: 5', 'Content-Length: 50000'), 'x'.repeat(50_000)],
    [head('/track/batch', 'Transfer-Encoding: chunked'), `${(3 * MiB).toString(16)}\r\n`, Buffer.alloc(3 * MiB, 'x')],
    whole('/track/batch', gzipSync(Buffer.alloc(50 * MiB)), 'Content-Encoding: gzip'),
    whole('/track/batch', '['.repeat(full)),
    whole('/track/batch', envelope(`${'['.repeat(full / 2)}`)),
    whole('/track/batch', envelope(`[${'"x",'.repeat(full / 4 - 64)}1]`)),
    whole(
      '/track/batch',
      envelope(`[${Array.from({ length: 1000 }, (_, at) => `{"a${at}":${'9'.repeat(300)}}`).join(',')}]`),
    ),
    whole('/track/batch', `{"tracking_key":"${'k'.repeat(full)}"}`),
    whole('/track/batch', `{${Array.from({ length: many }, (_, at) => `"field number ${at}":${at}`).join(',')}}`),
    whole('/track/batch', Buffer.alloc(full, 0xff)),
    whole('/bots/track', `{"tracking_key":"${ingest.key}","visits":[${'{},'.repeat(999)}{}]}`),
    whole('/track', '"\\ud800'.repeat(10_000)),
    whole('/track', ''),
    ['GET / HTTP/1.1\r\n', `X: ${'x'.repeat(200_000)}\r\n\r\n`],
  ]
}

async function goodBatches(count: number): Promise<void> {
  const event = { event_name: 'a', anonymous_id: 'v', title: 'x'.repeat(400), url: 'https://example.com/a?b=c' }
  const body = { tracking_key: ingest.key, events: Array.from({ length: 1000 }, () => event) }
  for (let at = 0; at < count; at++) expect((await ingest.post('/track/batch', body)).status).toBe(202)
}

/** A body whose last bytes never come. */
function beginBody(): Socket {
  const length = batchBodyBytesMax - 1
  const socket = connect(ingest.port, '127.0.0.1', () => {
    socket.write(head('/track/batch', `Content-Length: ${length}`))
    socket.write(Buffer.alloc(length - 10, 'x'))
  })
  socket.on('error', () => {})
  socket.resume()
  return socket
}

test('memory stays within a bound while bad input of every kind comes in', async () => {
  await goodBatches(15)
  const before = memory().now
  for (let round = 0; round < badRounds; round++) {
    const answers = badRequests().map((pieces) => exchange(ingest.port, pieces, { until: /HTTP\/1\.1 \d+/ }))
    // A batch is answered 202 also when each of its events is rejected.
    for (const { statuses } of await Promise.all(answers))
      expect(statuses[0] ?? 400).toSatisfy((code) => code === 202 || (code >= 400 && code < 500))
  }
  const { peak } = memory()
  expect(peak - before).toBeLessThan(growthMax)
  await goodBatches(1)
  await ingest.shipped()
  expect(await stores.ch.query('SELECT count() AS count FROM events')).toEqual([{ count: 16_000 }])
  expect(await stores.ch.query('SELECT 1 FROM bot_visits')).toEqual([])
})

test('memory stays within a bound while many bodies are left unfinished, those beyond it are 503, and it is given back', async () => {
  await goodBatches(5)
  const before = memory().now
  const sockets = Array.from({ length: unfinishedBodies }, beginBody)
  // On a slow machine some are first answered that their body is late.
  const answers: string[] = []
  for (const socket of sockets) socket.once('data', (answer) => answers.push(answer.toString('latin1')))
  const refusal = /^HTTP\/1.1 503 [\s\S]*Retry-After: 5\r\n[\s\S]*Too many request bodies are arriving/
  await expect.poll(() => answers).toContainEqual(expect.stringMatching(refusal))
  let most = 0
  for (let at = 0; at < 20; at++) {
    most = Math.max(most, memory().now)
    await sleep(50)
  }
  expect(most - before).toBeLessThan(arrivingBodiesBytesMax + otherGrowthMax)
  // Whoever sends something whole meanwhile is answered, if only that there is no room now.
  const post = async () => (await ingest.post('/track', { tracking_key: ingest.key, event_name: 'a' })).status
  expect([202, 503]).toContain(await post())

  for (const socket of sockets) socket.destroy()
  // Again and again: what was given up may not add up.
  for (let round = 0; round < abandonedRounds; round++) {
    const more = Array.from({ length: 100 }, beginBody)
    await sleep(300)
    most = Math.max(most, memory().now)
    for (const socket of more) socket.destroy()
  }
  expect(most - before).toBeLessThan(growthMax)
  // Once it has heard that they have gone.
  await expect.poll(post).toBe(202)
  await goodBatches(1)
})
