import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { jsonReply } from '../../runtime/http/reply.ts'
import { makeHttpServer } from '../../runtime/http/server.ts'
import { makeLog } from '../../runtime/log.ts'
import { sleep } from '../../runtime/retry.ts'
import { exchange } from '../support/raw-http.ts'

const bodyBytesMax = 1000
const bodyDeadlineMs = 400
const arrivingBodiesBytesMax = 3000

/** What the handlers got, in order: nothing that was refused may be here. */
const handled: string[] = []
const observed: [string, number][] = []
let release: () => void = () => {}

const server = makeHttpServer({
  log: makeLog('test', 'silent'),
  bodyDeadlineMs,
  arrivingBodiesBytesMax,
  observe: (label, status) => observed.push([label, status]),
  route: ({ path }) => {
    if (path === '/none') return { label: 'none', reply: jsonReply(404, { detail: 'Not Found' }) }
    return {
      label: path.slice(1),
      bodyBytesMax,
      handle: async ({ method, query, headers, body, requestId }) => {
        handled.push(`${method} ${path} ${body}`)
        if (path === '/throw') throw new Error('a bug, with a secret in its text')
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
})
let port = 0
beforeAll(async () => {
  port = await server.listen('127.0.0.1', 0)
})
afterAll(() => server.close(0))

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
  ])('%j: 400, closed, and nothing after it runs', async (headers) => {
    handled.length = 0
    const { statuses, closedAfterMs } = await exchange(port, [post(headers, `abc${next}`)])
    expect(statuses).toEqual([400])
    expect(closedAfterMs).toBeDefined()
    expect(handled).toEqual([])
  })
})

describe('bounds the body', () => {
  test('413 by its length alone, before any of it is sent, with the connection usable after it was sent', async () => {
    handled.length = 0
    const claim = post(`Content-Length: ${bodyBytesMax + 1}\r\n`)
    expect((await exchange(port, [claim], { until: 'too large"}' })).statuses).toEqual([413])
    expect(handled).toEqual([])
    const { statuses } = await exchange(port, [claim, 'x'.repeat(bodyBytesMax + 1), next], { until: '/next' })
    expect(statuses).toEqual([413, 200])
  })

  test('413 comes behind a body that is far too long and soon sent, so that no reset takes it away', async () => {
    const half = Buffer.alloc(10_000_000, 'x')
    const sent = [post(`Content-Length: ${2 * half.length}\r\n`), half, 100, half, next]
    expect((await exchange(port, sent, { until: '/next' })).statuses).toEqual([413, 200])
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

  test('takes a body of exactly the bound, said to be coded as identity, and refuses a compressed one', async () => {
    const whole = post(`Content-Encoding: Identity\r\nContent-Length: ${bodyBytesMax}\r\n`, 'x'.repeat(bodyBytesMax))
    expect((await exchange(port, [whole], { until: '}' })).statuses).toEqual([200])
    const gzip = post('Content-Encoding: gzip\r\nContent-Length: 3\r\n', 'abc')
    expect((await exchange(port, [gzip], { until: '"}' })).statuses).toEqual([415])
  })

  test('408 and the end of the connection for a body that stays out, or drips', async () => {
    handled.length = 0
    const begun = post('Content-Length: 10\r\n')
    const bodies = [['abc'], ['a', 150, 'b', 150, 'c', 150, 'd', 150, 'e']]
    for (const { statuses, closedAfterMs } of await Promise.all(
      bodies.map((body) => exchange(port, [begun, ...body])),
    )) {
      expect(statuses).toEqual([408])
      expect(closedAfterMs).toBeGreaterThan(bodyDeadlineMs - 50)
    }
    expect(handled).toEqual([])
  })
})

test('503 for a body beyond what all together may hold, and room again as soon as a sender has gone', async () => {
  const patient = makeHttpServer({
    log: makeLog('test', 'silent'),
    bodyDeadlineMs: 30_000,
    arrivingBodiesBytesMax,
    route: () => ({ label: 'echo', bodyBytesMax, handle: ({ body }) => jsonReply(200, { bytes: body.length }) }),
  })
  const at = await patient.listen('127.0.0.1', 0)
  const begun = [post('Content-Length: 1000\r\n'), 50, 'x'.repeat(900)]
  const held = Array.from({ length: 3 }, () => exchange(at, begun, { waitMs: 600 }))
  await sleep(300)
  const refused = await exchange(at, begun, { until: '}' })
  expect(refused.text).toMatch(/^HTTP\/1.1 503 [\s\S]*Retry-After: 5\r\n[\s\S]*"Too many request bodies are arriving"/)
  expect(refused.closedAfterMs ?? 0).toBeLessThan(10_000)
  // What arrives whole needs no room.
  expect((await exchange(at, [post('Content-Length: 3\r\n', 'abc')], { until: '}' })).statuses).toEqual([200])
  expect((await Promise.all(held)).map(({ statuses }) => statuses)).toEqual([[], [], []])
  await sleep(100)
  const again = await exchange(at, [...begun, 50, 'x'.repeat(100)], { until: '}' })
  expect(again.text).toContain('"bytes":1000')
  await patient.close(0)
})

test.each([
  ['garbage', 'hello there\r\n\r\n'],
  ['binary', Buffer.from([0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3, 13, 10, 13, 10])],
  ['a bad chunk', post('Transfer-Encoding: chunked\r\n', 'zz\r\nabc\r\n')],
])('stays up and closes on %s', async (_, bytes) => {
  handled.length = 0
  const { closedAfterMs } = await exchange(port, [bytes])
  expect(closedAfterMs).toBeDefined()
  expect(handled).toEqual([])
  expect((await fetch(`http://127.0.0.1:${port}/next`)).status).toBe(200)
})

describe('X-Request-Id', () => {
  const idOf = async (path: string, headers: Record<string, string> = {}) =>
    (await fetch(`http://127.0.0.1:${port}${path}`, { headers })).headers.get('x-request-id')

  test('is on every answer, and a valid incoming one is kept', async () => {
    for (const path of ['/echo', '/none', '/throw']) {
      expect(await idOf(path, { 'X-Request-Id': 'caller:1.2_3-x' })).toBe('caller:1.2_3-x')
      expect(await idOf(path)).toMatch(/^[A-Za-z0-9._:-]{1,128}$/)
    }
    const { text } = await exchange(port, [post('Content-Length: 3\r\nContent-Length: 3\r\nX-Request-Id: kept\r\n')])
    expect(text).toContain('X-Request-Id: kept')
  })

  test('is made anew for one with a blank, a semicolon or too many characters, another one each time', async () => {
    const incoming = ['a b', 'a;b', 'x'.repeat(129), ...Array(20).fill('')]
    const ids = await Promise.all(incoming.map((id) => idOf('/echo', { 'X-Request-Id': id })))
    for (const id of ids) expect(id).toMatch(/^[A-Za-z0-9._:-]{1,128}$/)
    expect(new Set(ids).size).toBe(incoming.length)
  })
})

test('HEAD has the headers of GET and no body, and the connection goes on', async () => {
  const { text, statuses } = await exchange(port, ['HEAD /echo HTTP/1.1\r\nHost: x\r\n\r\n', 50, next], {
    until: '/next',
  })
  expect(statuses).toEqual([200, 200])
  const [head] = text.split('HTTP/1.1 200 OK').slice(1)
  expect(head).toMatch(/Content-Type: application\/json\r\n/)
  expect(head).toMatch(/Content-Length: \d\d+\r\n/)
  expect(head).not.toContain('{')
})

test("a handler's failure says nothing of itself", async () => {
  const response = await fetch(`http://127.0.0.1:${port}/throw`)
  expect(response.status).toBe(500)
  expect(await response.json()).toEqual({ detail: 'Internal Server Error' })
})

test('a client that goes away before its answer harms nobody', async () => {
  observed.length = 0
  await exchange(port, ['GET /slow HTTP/1.1\r\nHost: x\r\n\r\n'], { waitMs: 100 })
  await expect.poll(() => observed).toContainEqual(['slow', 0])
  release()
  expect((await fetch(`http://127.0.0.1:${port}/next`)).status).toBe(200)
})

test('a busy port is an error, not half of the connections', async () => {
  const second = makeHttpServer({
    ...{ log: makeLog('test', 'silent'), bodyDeadlineMs, arrivingBodiesBytesMax },
    route: () => ({ label: 'none', reply: { status: 204 } }),
  })
  await expect(second.listen('127.0.0.1', port)).rejects.toThrow(`127.0.0.1:${port}`)
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
  const closing = makeHttpServer({
    ...{ log: makeLog('test', 'silent'), bodyDeadlineMs, arrivingBodiesBytesMax },
    route: () => ({ label: 'slow', bodyBytesMax: 0, handle }),
  })
  const url = `http://127.0.0.1:${await closing.listen('127.0.0.1', 0)}/`
  const answer = fetch(url)
  await begun
  await closing.close()
  expect((await answer).status).toBe(204)
  await expect(fetch(url)).rejects.toThrow()
})
