/** Bodies that are read while they arrive, and files that are sent no faster than they are taken. */
import { createHash, randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { jsonReply } from '../../runtime/http/reply.ts'
import { makeHttpServer } from '../../runtime/http/server.ts'
import type { StreamedBody } from '../../runtime/http/streamed-body.ts'
import { makeLog } from '../../runtime/log.ts'
import { sleep } from '../../runtime/retry.ts'
import { exchange } from '../support/raw-http.ts'
import { setUpFolder } from '../support/test-folder.ts'

const MiB = 2 ** 20
const bodyBytesMax = 40 * MiB
const stallMs = 3_000

const file = join(setUpFolder(), 'file')
const content = randomBytes(8 * MiB + 7)
writeFileSync(file, content)

/** How each body ended, and what reached the handler of it. */
const ended: string[] = []
const observed: [string, number][] = []
let bytesRead = 0

async function readAll(body: StreamedBody, waitMs = 0) {
  let bytes = 0
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      bytes += chunk.length
      bytesRead += chunk.length
      if (waitMs > 0) await sleep(waitMs)
    }
  } catch (error) {
    ended.push((error as Error).message)
    return jsonReply(408, { detail: 'late' })
  }
  ended.push('whole')
  return jsonReply(200, { bytes })
}

const server = makeHttpServer({
  log: makeLog('test', 'silent'),
  bodyDeadlineMs: 400,
  arrivingBodiesBytesMax: 1000,
  observe: (label, status) => observed.push([label, status]),
  route: ({ path }) => {
    const label = path.slice(1)
    const stream = {
      stallMs: path === '/patient' ? 10_000 : stallMs,
      deadlineMs: path === '/deadline' ? 2_000 : 60_000,
    }
    if (path === '/file') {
      const sent = { from: 0, bytes: content.length, open: () => open(file) }
      return { label, bodyBytesMax: 0, handle: () => ({ status: 200, file: sent }) }
    }
    if (path === '/next') return { label, bodyBytesMax: 0, handle: () => jsonReply(200, { next: true }) }
    if (path === '/refuse') {
      return { label, bodyBytesMax, stream, handle: async () => jsonReply(401, { detail: 'Who?' }) }
    }
    return { label, bodyBytesMax, stream, handle: ({ body }) => readAll(body, path === '/slow' ? 100 : 0) }
  },
})
let port = 0
let url = ''
/** Takes longer than the library under the server would wait: it goes on beside the other tests. */
let dripping: ReturnType<typeof exchange>
beforeAll(async () => {
  port = await server.listen('127.0.0.1', 0)
  url = `http://127.0.0.1:${port}`
  const drips = Array.from({ length: 16 }, () => ['a', 900]).flat()
  dripping = exchange(port, [post('/patient', 'Content-Length: 16\r\n'), ...drips], { until: '}' })
})
afterAll(() => server.close(0))

const post = (path: string, headers: string) => `POST ${path} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`
const next = 'GET /next HTTP/1.1\r\nHost: x\r\n\r\n'

test.each([
  ['of nothing', post('/read', 'Content-Length: 0\r\n'), 0],
  ['that came with its head', `${post('/slow', 'Content-Length: 3\r\n')}abc`, 3],
])('a body %s is whole, and the connection goes on', async (_, sent, bytes) => {
  const { text, statuses } = await exchange(port, [sent, 200, next], { until: '"next"' })
  expect(statuses).toEqual([200, 200])
  expect(text).toContain(`"bytes":${bytes}`)
})

test('reads no faster than the handler', async () => {
  const before = bytesRead
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  const bytes = 32 * MiB
  socket.write(post('/slow', `Content-Length: ${bytes}\r\n`))
  const sent = socket.write(Buffer.alloc(bytes))
  expect(sent).toBe(false)
  await sleep(700)
  // Bytes that the handler hasn't asked for are still with the sender, save for the buffers of the connection.
  expect(socket.writableLength).toBeGreaterThan(8 * MiB)
  expect(bytesRead - before).toBeLessThan(8 * MiB)
  socket.destroy()
  await expect.poll(() => ended).toContain('the body was gone')
})

test('a sender who stops is given up, one who drips goes on until the deadline', async () => {
  const stuck = await exchange(port, [post('/read', 'Content-Length: 1000\r\n'), 'abc'], { until: '}' })
  expect(stuck.statuses).toEqual([408])
  expect(ended).toContain('the body was late')
  const drips = Array.from({ length: 12 }, () => ['a', 300]).flat()
  const [slow, late] = await Promise.all(
    ['/read', '/deadline'].map((path) =>
      exchange(port, [post(path, 'Content-Length: 12\r\n'), ...drips], { until: '}' }),
    ),
  )
  expect(slow!.text).toContain('"bytes":12')
  expect(late!.statuses).toEqual([408])
})

test('a body in chunks ends when it passes the bound', async () => {
  const size = 0x100000
  const chunk = Buffer.concat([Buffer.from(`${size.toString(16)}\r\n`), Buffer.alloc(size), Buffer.from('\r\n')])
  const chunks = Array.from({ length: bodyBytesMax / size + 1 }, () => chunk)
  await exchange(port, [post('/read', 'Transfer-Encoding: chunked\r\n'), ...chunks], { until: '}' })
  expect(ended).toContain('the body was too large')
})

test('an early answer reaches a client that goes on sending a long body', async () => {
  for (const bytes of [MiB, 24 * MiB]) {
    const body = Buffer.alloc(bytes)
    const answer = await fetch(`${url}/refuse`, { method: 'POST', body })
    expect([answer.status, await answer.json()]).toEqual([401, { detail: 'Who?' }])
    const sent = [post('/refuse', `Content-Length: ${bytes}\r\n`), 50, body, next]
    // Again where this process stood still longer than a server waits for the rest.
    await expect.poll(async () => (await exchange(port, sent, { until: '"next"' })).statuses).toEqual([401, 200])
  }
  const tooLarge = await fetch(`${url}/read`, { method: 'POST', body: Buffer.alloc(bodyBytesMax + MiB) })
  expect([tooLarge.status, await tooLarge.json()]).toEqual([413, { detail: 'Request body is too large' }])
})

test('the connection ends after an early answer where nobody said how long the rest is, or it is too long to read', async () => {
  const chunked = await exchange(port, [post('/refuse', 'Transfer-Encoding: chunked\r\n'), '3\r\nabc\r\n'])
  expect(chunked.statuses).toEqual([401])
  expect(chunked.closedAfterMs).toBeDefined()
  const whole = [post('/refuse', 'Transfer-Encoding: chunked\r\n'), 50, '3\r\nabc\r\n0\r\n\r\n', 50, next]
  await expect.poll(async () => (await exchange(port, whole, { until: '"next"' })).statuses).toEqual([401, 200])
  const claimed = await exchange(port, [post('/refuse', 'Content-Length: 999999999999\r\n'), 'abc'])
  expect(claimed.statuses).toEqual([413])
  expect(claimed.closedAfterMs).toBeDefined()
})

test('many clients get the same file at once, slow ones too', async () => {
  const hashes = await Promise.all(
    Array.from({ length: 12 }, async (_, at) => {
      const hash = createHash('sha256')
      for await (const chunk of (await fetch(`${url}/file`)).body!) {
        hash.update(chunk)
        if (at % 4 === 0) await sleep(1)
      }
      return hash.digest('hex')
    }),
  )
  expect(new Set(hashes)).toEqual(new Set([createHash('sha256').update(content).digest('hex')]))
})

test('a client that goes away in the middle of a file harms nobody', async () => {
  observed.length = 0
  for (let count = 0; count < 10; count++) {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => {})
    socket.write('GET /file HTTP/1.1\r\nHost: x\r\n\r\n')
    socket.once('data', () => socket.destroy())
  }
  await expect.poll(() => observed.filter(([, status]) => status === 0).length).toBe(10)
  expect((await fetch(`${url}/next`)).status).toBe(200)
})

test('a slow sender is not cut by the library under it', async () => {
  expect((await dripping).text).toContain('"bytes":16')
})
