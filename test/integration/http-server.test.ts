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
        return jsonReply(200, {
          method,
          path,
          query,
          agent: headers.get('user-agent') ?? null,
          body: `${body}`,
          requestId,
        })
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

test('copies the request: method, path, query, headers and a body in pieces', async () => {
  const { text } = await exchange(
    port,
    ['POST /echo?a=1&b=%20 HTTP/1.1\r\nHost: x\r\nUser-Agent: me\r\nContent-Length: 6\r\n\r\nabc', 50, 'def'],
    { until: '}' },
  )
  const answer = JSON.parse(text.slice(text.indexOf('{')))
  expect(answer).toMatchObject({ method: 'POST', path: '/echo', query: 'a=1&b=%20', agent: 'me', body: 'abcdef' })
})

test('reads a chunked body', async () => {
  const { text } = await exchange(port, [post('Transfer-Encoding: chunked\r\n', '3\r\nabc\r\n3\r\ndef\r\n0\r\n\r\n')], {
    until: '}',
  })
  expect(text).toContain('"body":"abcdef"')
})

describe('keeps a connection from being split in two', () => {
  test.each([
    ['two equal lengths', 'Content-Length: 3\r\nContent-Length: 3\r\n'],
    ['two lengths', 'Content-Length: 3\r\nContent-Length: 80\r\n'],
    ['an empty length', 'Content-Length:\r\n'],
    ['a list of lengths', 'Content-Length: 3, 3\r\n'],
    ['a negative length', 'Content-Length: -3\r\n'],
    ['a signed length', 'Content-Length: +3\r\n'],
    ['a length of 20 digits', 'Content-Length: 99999999999999999999\r\n'],
    ['a length in hexadecimal', 'Content-Length: 0x3\r\n'],
    ['a length and an encoding', 'Content-Length: 3\r\nTransfer-Encoding: chunked\r\n'],
    ['an unknown transfer encoding', 'Transfer-Encoding: gzip\r\n'],
    ['two transfer encodings', 'Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n'],
  ])('%s: 400, closed, and nothing after it runs', async (_, headers) => {
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
    const { text } = await exchange(port, [claim], { until: 'too large"}' })
    expect(text).toContain('HTTP/1.1 413 Payload Too Large')
    expect(handled).toEqual([])
    const { statuses } = await exchange(port, [claim, 'x'.repeat(bodyBytesMax + 1), next], { until: '/next' })
    expect(statuses).toEqual([413, 200])
  })

  test('413 and the end of the connection for a length that is not worth reading', async () => {
    const { statuses, closedAfterMs } = await exchange(port, [
      post('Content-Length: 999999999999\r\n', 'x'.repeat(5000)),
    ])
    expect(statuses).toEqual([413])
    expect(closedAfterMs).toBeDefined()
  })

  test('413 comes behind a body that is far too long and soon sent, so that no reset takes it away', async () => {
    const half = Buffer.alloc(10_000_000, 'x')
    const sent = [post(`Content-Length: ${2 * half.length}\r\n`), half, 100, half, next]
    expect((await exchange(port, sent, { until: '/next' })).statuses).toEqual([413, 200])
  })

  test('413 once a chunked body passes the bound', async () => {
    handled.length = 0
    const { statuses, closedAfterMs } = await exchange(port, [
      post('Transfer-Encoding: chunked\r\n', `3ff\r\n${'x'.repeat(1023)}\r\n`),
    ])
    expect(statuses).toEqual([413])
    expect(closedAfterMs).toBeDefined()
    expect(handled).toEqual([])
  })

  test('takes a body of exactly the bound', async () => {
    const { statuses } = await exchange(port, [post(`Content-Length: ${bodyBytesMax}\r\n`, 'x'.repeat(bodyBytesMax))], {
      until: '}',
    })
    expect(statuses).toEqual([200])
  })

  test('408 and the end of the connection for a body that stays out, or drips', async () => {
    handled.length = 0
    const stuck = await exchange(port, [post('Content-Length: 10\r\n', 'abc')])
    const dripping = await exchange(port, [post('Content-Length: 10\r\n'), 'a', 150, 'b', 150, 'c', 150, 'd', 150, 'e'])
    for (const { statuses, closedAfterMs } of [stuck, dripping]) {
      expect(statuses).toEqual([408])
      expect(closedAfterMs).toBeGreaterThan(bodyDeadlineMs - 50)
    }
    expect(handled).toEqual([])
  })

  test('415 for a compressed body, and identity is none', async () => {
    const gzip = await exchange(port, [post('Content-Encoding: gzip\r\nContent-Length: 3\r\n', 'abc')], { until: '"}' })
    expect(gzip.statuses).toEqual([415])
    const identity = await exchange(port, [post('Content-Encoding: Identity\r\nContent-Length: 3\r\n', 'abc')], {
      until: '}',
    })
    expect(identity.statuses).toEqual([200])
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

test('what is refused by its head alone is refused before a long body has arrived', async () => {
  const judging = makeHttpServer({
    log: makeLog('test', 'silent'),
    bodyDeadlineMs: 30_000,
    arrivingBodiesBytesMax: 100_000,
    route: () => ({
      label: 'echo',
      bodyBytesMax: 100_000,
      precheck: async ({ headers }) => (headers.has('x-key') ? undefined : jsonReply(401, { detail: 'Who?' })),
      handle: ({ body }) => jsonReply(200, { bytes: body.length }),
    }),
  })
  const at = await judging.listen('127.0.0.1', 0)
  const part = 'x'.repeat(10_000)
  for (const framing of ['Content-Length: 20000\r\n', 'Transfer-Encoding: chunked\r\n']) {
    const { statuses, closedAfterMs } = await exchange(at, [post(framing), 50, '2710\r\n', part])
    expect(statuses).toEqual([401])
    expect(closedAfterMs).toBeDefined()
  }
  const known = await exchange(at, [post('X-Key: 1\r\nContent-Length: 20000\r\n'), part, 50, part], { until: '}' })
  expect(known.text).toContain('"bytes":20000')
  await judging.close(0)
})

describe('stays up and closes', () => {
  test.each([
    ['garbage', 'hello there\r\n\r\n'],
    ['binary', Buffer.from([0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3, 13, 10, 13, 10])],
    ['a bad chunk', post('Transfer-Encoding: chunked\r\n', 'zz\r\nabc\r\n')],
  ])('on %s', async (_, bytes) => {
    handled.length = 0
    const { closedAfterMs } = await exchange(port, [bytes])
    expect(closedAfterMs).toBeDefined()
    expect(handled).toEqual([])
    expect((await fetch(`http://127.0.0.1:${port}/next`)).status).toBe(200)
  })
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

  test.each([
    ['a blank in it', 'a b'],
    ['too long', 'x'.repeat(129)],
    ['a semicolon', 'a;b'],
  ])('is made anew for %s', async (_, incoming) => {
    const id = await idOf('/echo', { 'X-Request-Id': incoming })
    expect(id).not.toBe(incoming)
    expect(id).toMatch(/^[A-Za-z0-9._:-]{1,128}$/)
  })

  test('is another one each time', async () => {
    const ids = await Promise.all(Array.from({ length: 50 }, () => idOf('/echo')))
    expect(new Set(ids).size).toBe(50)
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
    log: makeLog('test', 'silent'),
    bodyDeadlineMs,
    arrivingBodiesBytesMax,
    route: () => ({ label: 'none', reply: { status: 204 } }),
  })
  await expect(second.listen('127.0.0.1', port)).rejects.toThrow(`127.0.0.1:${port}`)
})

test('closing waits for the answers under way and takes no new connections', async () => {
  const closing = makeHttpServer({
    log: makeLog('test', 'silent'),
    bodyDeadlineMs,
    arrivingBodiesBytesMax,
    route: () => ({
      label: 'slow',
      bodyBytesMax: 0,
      handle: async () => {
        await new Promise((resolve) => setTimeout(resolve, 200))
        return { status: 204 }
      },
    }),
  })
  const url = `http://127.0.0.1:${await closing.listen('127.0.0.1', 0)}/`
  const answer = fetch(url)
  await new Promise((resolve) => setTimeout(resolve, 50))
  await closing.close()
  expect((await answer).status).toBe(204)
  await expect(fetch(url)).rejects.toThrow()
})
