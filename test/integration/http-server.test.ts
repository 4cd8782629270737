import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { jsonReply } from '../../runtime/http/reply.ts'
import { type HttpServerOptions, makeHttpServer } from '../../runtime/http/server.ts'
import { makeLog } from '../../runtime/log.ts'
import { sleep } from '../../runtime/retry.ts'
import { exchange } from '../support/raw-http.ts'

const bodyBytesMax = 1000
const bodyDeadlineMs = 400
const arrivingBodiesBytesMax = 3000

/** Requests that reached the handlers, in order: nothing that was refused may be here. */
const handled: string[] = []
const observed: [string, number][] = []
let release: () => void = () => {}

const options: HttpServerOptions = {
  log: makeLog('test', 'silent'),
  // Long, because machines are slow at times.
  bodyDeadlineMs: 60_000,
  arrivingBodiesBytesMax,
  observe: (label, status) => observed.push([label, status]),
  route: ({ path }) => {
    if (path === '/none') return { label: 'none', reply: jsonReply(404, { detail: 'Not Found' }) }
    return {
      label: path.slice(1),
      bodyBytesMax,
      handle: async ({ method, query, headers, body, requestId }) => {
        handled.push(`${method} ${path} ${body}`)
        if (path === '/slow') {
          await new Promise<void>((resolve) => {
            release = resolve
          })
        }
        const agent = headers.get('user-agent') ?? null
        return jsonReply(200, { method, path, query, agent, body: `${body}`, requestId })
      },
    }
  },
}
const server = makeHttpServer(options)
const hasty = makeHttpServer({ ...options, bodyDeadlineMs })
let port = 0
let hastyPort = 0
beforeAll(async () => {
  port = await server.listen('127.0.0.1', 0)
  hastyPort = await hasty.listen('127.0.0.1', 0)
})
afterAll(() => Promise.all([server.close(0), hasty.close(0)]))

const post = (headers: string, body = '') => `POST /echo HTTP/1.1\r\nHost: x\r\n${headers}\r\n${body}`
const next = 'GET /next HTTP/1.1\r\nHost: x\r\n\r\n'

test.each([
  ['with its length', 'Content-Length: 6', ['abc', 50, 'def']],
  ['in chunks', 'Transfer-Encoding: chunked', ['3\r\nabc\r\n', 50, '3\r\ndef\r\n0\r\n\r\n']],
])('copies the request: method, path, query, headers and a body that comes %s', async (_, framing, body) => {
  const head = `POST /echo?a=1&b=%20 HTTP/1.1\r\nHost: x\r\nUser-Agent: me\r\n${framing}\r\n\r\n`
  const { text } = await exchange(port, [head, ...body], { until: '}' })
  const answer = JSON.parse(text.slice(text.indexOf('{')))
  expect(answer).toMatchObject({ method: 'POST', path: '/echo', query: 'a=1&b=%20', agent: 'me', body: 'abcdef' })
})

describe('keeps a connection from being split in two', () => {
  test.each([
    ...['3\r\nContent-Length: 3', '3\r\nContent-Length: 80', '', ' 3, 3', '-3', '+3', '9'.repeat(20), '0x3'].map(
      (length) => `Content-Length:${length}\r\n`,
    ),
    'Content-Length: 3\r\nTransfer-Encoding: chunked\r\n',
    'Transfer-Encoding: gzip\r\n',
    'Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n',
    'Transfer-Encoding: gzip, chunked\r\n',
    'Host: y\r\nContent-Length: 3\r\n',
  ])('%j: 400, closed, and nothing after it runs', async (headers) => {
    handled.length = 0
    const body = headers.includes('gzip, chunked') ? '3\r\nabc\r\n0\r\n\r\n' : 'abc'
    const { statuses, closedAfterMs } = await exchange(port, [post(headers, body + next)])
    expect(statuses).toEqual([400])
    expect(closedAfterMs).toBeDefined()
    expect(handled).toEqual([])
  })
})

describe('bounds the body', () => {
  test('413 comes behind a body that is far too long and soon sent, so that no reset takes it away', async () => {
    const half = Buffer.alloc(10_000_000, 'x')
    const sent = [post(`Content-Length: ${2 * half.length}\r\n`), half, 100, half, next]
    // Again where this process stood still longer than a server waits for the rest.
    await expect.poll(async () => (await exchange(port, sent, { until: '/next' })).statuses).toEqual([413, 200])
  })

  test.each([
    ['a length that is not worth reading', post('Content-Length: 999999999999\r\n', 'x'.repeat(5000))],
    ['chunks that pass the bound', post('Transfer-Encoding: chunked\r\n', `3ff\r\n${'x'.repeat(1023)}\r\n`)],
  ])('413 and the end of the connection for %s', async (_, sent) => {
    handled.length = 0
    const { statuses, closedAfterMs } = await exchange(port, [sent])
    expect(statuses).toEqual([413])
    expect(closedAfterMs).toBeDefined()
    expect(handled).toEqual([])
  })

  test('a sender who writes on, as a proxy does, loses no answer that ends the connection', async () => {
    const socket = connect(port, '127.0.0.1')
    const failures: Error[] = []
    socket.on('error', (error) => failures.push(error))
    socket.write(post('Transfer-Encoding: chunked\r\n', `3ff\r\n${'x'.repeat(1023)}\r\n`))
    await expect.poll(() => socket.readableLength).toBeGreaterThan(0)
    for (let round = 0; round < 3; round++) {
      socket.write('1\r\nx\r\n')
      await sleep(30)
    }
    expect([failures, String(socket.read())]).toEqual([[], expect.stringContaining(' 413 ')])
    socket.destroy()
  })

  test('takes a body of exactly the bound, said to be coded as identity', async () => {
    const whole = post(`Content-Encoding: Identity\r\nContent-Length: ${bodyBytesMax}\r\n`, 'x'.repeat(bodyBytesMax))
    expect((await exchange(port, [whole], { until: '}' })).statuses).toEqual([200])
  })

  test('408 and the end of the connection for a body that stays out, or drips', async () => {
    handled.length = 0
    const begun = post('Content-Length: 10\r\n')
    const bodies = [['abc'], ['a', 150, 'b', 150, 'c', 150, 'd', 150, 'e']]
    for (const { statuses, closedAfterMs } of await Promise.all(
      bodies.map((body) => exchange(hastyPort, [begun, ...body])),
    )) {
      expect(statuses).toEqual([408])
      expect(closedAfterMs).toBeGreaterThan(bodyDeadlineMs - 50)
    }
    expect(handled).toEqual([])
  })
})

test('X-Request-Id is kept where it is valid, also by a refusal, and made anew for others, another one each time', async () => {
  const idOf = async (id: string) =>
    (await fetch(`http://127.0.0.1:${port}/echo`, { headers: { 'X-Request-Id': id } })).headers.get('x-request-id')
  expect(await idOf('caller:1.2_3-x')).toBe('caller:1.2_3-x')
  const { text } = await exchange(port, [post('Content-Length: 3\r\nContent-Length: 3\r\nX-Request-Id: kept\r\n')])
  expect(text).toContain('X-Request-Id: kept')
  const incoming = ['a b', 'a;b', 'x'.repeat(129), ...Array(20).fill('')]
  const ids = await Promise.all(incoming.map(idOf))
  for (const id of ids) expect(id).toMatch(/^[A-Za-z0-9._:-]{1,128}$/)
  expect(new Set(ids).size).toBe(incoming.length)
})

test('requests that are sent ahead begin in turn, and a sender of too many is cut off', async () => {
  handled.length = 0
  const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`
  const asked = exchange(port, [get('/slow') + get('http://x/echo?a=1') + get('/next')], { until: '/next"' })
  await expect.poll(() => handled).toHaveLength(1)
  await fetch(`http://127.0.0.1:${port}/echo`)
  expect(handled).toEqual(['GET /slow ', 'GET /echo '])
  release()
  const { statuses, text } = await asked
  expect(statuses).toEqual([200, 200, 200])
  expect(text).toContain('"path":"/echo","query":"a=1"')
  handled.length = 0
  const cut = await exchange(port, [get('/slow') + get('/next').repeat(200)])
  expect([cut.statuses, handled]).toEqual([[], ['GET /slow ']])
})

test('a balancer may keep a connection idle for two minutes, as Caddy does', async () => {
  const { text } = await exchange(port, ['GET /x HTTP/1.1\r\nHost: x\r\n\r\n'], { until: '}' })
  expect(Number(/^keep-alive: timeout=(\d+)\r$/im.exec(text)?.[1])).toBeGreaterThan(120)
})

test('a client that goes away before its answer harms nobody', async () => {
  observed.length = 0
  handled.length = 0
  const leaving = new AbortController()
  const asked = fetch(`http://127.0.0.1:${port}/slow`, { signal: leaving.signal })
  await expect.poll(() => handled).toHaveLength(1)
  leaving.abort()
  await expect(asked).rejects.toThrow()
  await expect.poll(() => observed).toContainEqual(['slow', 0])
  release()
  expect((await fetch(`http://127.0.0.1:${port}/next`)).status).toBe(200)
})

test('closing waits for the answers under way and takes no new connections', async () => {
  let begin = () => {}
  const begun = new Promise<void>((resolve) => {
    begin = resolve
  })
  const handle = async () => {
    begin()
    await sleep(200)
    return { status: 204 }
  }
  const closing = makeHttpServer({ ...options, route: () => ({ label: 'slow', bodyBytesMax: 0, handle }) })
  const url = `http://127.0.0.1:${await closing.listen('127.0.0.1', 0)}/`
  const answer = fetch(url)
  await begun
  await closing.close()
  expect((await answer).status).toBe(204)
  await expect(fetch(url)).rejects.toThrow()
})
