/** The listener on PORT: forwarding, streaming, and its behaviour when a service is away or a sender misbehaves. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createSocketServer } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { bodyDeadlineMs } from '../../schemas/limits/event-limits.ts'
import { type Front, startFront } from '../../start/front/front.ts'
import { listening } from '../support/listening.ts'
import { exchange } from '../support/raw-http.ts'

type Handler = (request: IncomingMessage, response: ServerResponse) => void

/** More than is waited for before a service hears of the request. */
const large = 'x'.repeat(32 * 1024)

let handle: Handler
let isAway = false
let upstream: Server
let upstreamPort: number
let front: Front
let root: string

const options = {
  host: '127.0.0.1',
  port: 0,
  portOf: (service: string) => (isAway || service !== 'ingest' ? undefined : upstreamPort),
  page: async () => '<h1>well</h1>',
  countryHeader: 'cf-ipcountry',
  trustedProxies: ['127.0.0.0/8', '::1/128'],
}

beforeAll(async () => {
  upstream = createServer((incoming, response) => handle(incoming, response))
  upstreamPort = (await listening(upstream)).port
  front = await startFront(options)
  root = `http://127.0.0.1:${front.port}`
})
afterAll(async () => {
  await front.close()
  upstream.closeAllConnections()
  upstream.close()
})
beforeEach(() => {
  isAway = false
  handle = (incoming, response) => {
    incoming.resume().on('end', () => response.end(JSON.stringify({ url: incoming.url, headers: incoming.headers })))
  }
})

const track = (headers: string) => `POST /api/v1/growth/track HTTP/1.1\r\nHost: x\r\n${headers}\r\n\r\n`
const read = 'GET /api/v1/growth/health HTTP/1.1\r\nHost: x\r\n\r\n'

/** A refusal's form: JSON with a detail, the caller's id, and no connection after it. */
function expectRefusal(text: string, id: string): void {
  expect(text).toMatch(new RegExp(`^x-request-id: ${id}\r$`, 'im'))
  expect(text).toMatch(/^connection: close\r$/im)
  expect(text).toMatch(/\r\n\r\n\{"detail":"[^"]+"\}$/)
}

test('forwards the path as it is, the host, and the address of the sender behind those of proxies', async () => {
  const headers = { 'x-forwarded-for': '192.0.2.1', 'cf-ipcountry': 'DE', connection: 'x-forwarded-for' }
  const asked = request(`${root}/api/v1/growth/a%2Fb//c??d=%00&d?`, { headers }).end()
  const [response] = (await once(asked, 'response')) as [IncomingMessage]
  const seen = JSON.parse((await response.toArray()).join(''))
  expect(seen.url).toBe('/api/v1/growth/a%2Fb//c??d=%00&d?')
  expect(seen.headers).toMatchObject({
    host: `127.0.0.1:${front.port}`,
    'x-forwarded-for': '192.0.2.1, 127.0.0.1',
    'cf-ipcountry': 'DE',
  })
})

test("sends what providers of payments send to the API, all else of tracking's paths to ingest, metrics to each service, and no place of a stranger", async () => {
  let asked = ''
  const strict = await startFront({
    ...options,
    trustedProxies: ['192.0.2.0/24'],
    portOf: (service) => {
      asked = service
      return upstreamPort
    },
  })
  const headers = { 'cf-ipcountry': 'DE', 'cf-region-code': 'BE', 'cf-region': 'Land Berlin', 'cf-ipcity': 'Berlin' }
  for (const [path, service] of [
    ['/api/v1/growth/revenue/stripe/1', 'api'],
    ['/api/v1/growth/revenues', 'ingest'],
    ['/metrics', 'api'],
    ['/metrics?service=ingest', 'ingest'],
    ['/metrics?service=pipeline', 'pipeline'],
  ] as const) {
    const answer = await fetch(`http://127.0.0.1:${strict.port}${path}`, { headers })
    const seen = ((await answer.json()) as { headers: object }).headers
    expect(Object.keys(seen).filter((name) => name.startsWith('cf-'))).toEqual([])
    expect([path, asked]).toEqual([path, service])
  }
  await strict.close()
})

test('streams a large body on before it has ended, and the answer back before it has', async () => {
  const first = new Promise<string>((resolve) => {
    handle = (incoming, response) => {
      incoming.once('data', (data) => {
        resolve(String(data))
        response.write('half')
      })
      incoming.on('end', () => response.end(' and half'))
    }
  })
  const asked = request(`${root}/api/v1/growth/track`, { method: 'POST' })
  asked.write(large)
  expect(await first).toMatch(/^x+$/)
  const [response] = (await once(asked, 'response')) as [IncomingMessage]
  const [half] = await once(response, 'data')
  expect(String(half)).toBe('half')
  asked.end()
  expect((await response.toArray()).join('')).toBe(' and half')
})

test.each([
  ['with its length', 'Content-Length: 3', ['a', 100, 'b', 100, 'c']],
  ['in chunks', 'Transfer-Encoding: chunked', ['1\r\na\r\n', 100, '2\r\nbc\r\n', 100, '0\r\n\r\n']],
])('hands a small body %s on once it is whole', async (_, framing, body) => {
  let askedAt = 0
  handle = async (incoming, response) => {
    askedAt = Date.now()
    response.end(await incoming.toArray().then((pieces) => pieces.join('')))
  }
  const startedAt = Date.now()
  const { text, statuses } = await exchange(front.port, [track(framing), ...body], { until: 'abc' })
  expect(statuses).toEqual([200])
  expect(text).toContain('abc')
  expect(askedAt - startedAt).toBeGreaterThanOrEqual(190)
})

test('answers 408 to a head and to a small body that do not come in time, and asks no service', async () => {
  let isAsked = false
  handle = () => {
    isAsked = true
  }
  const sent = [['GET /svc.js HTTP/1.1\r\nHost: '], [`${track('Content-Length: 3')}`, 'ab']]
  const [head, body] = await Promise.all(sent.map((pieces) => exchange(front.port, pieces, { waitMs: 60_000 })))
  expect([head!.statuses, body!.statuses]).toEqual([[408], [408]])
  expectRefusal(head!.text, '\\S+')
  expect(body!.text).toContain('{"detail":"The request body did not arrive in time"}')
  expect(body!.text).toMatch(/^access-control-allow-origin: \*\r$/im)
  expect(body!.closedAfterMs).toBeGreaterThanOrEqual(bodyDeadlineMs - 500)
  expect(isAsked).toBe(false)
})

test('answers 503 with Retry-After while a service is away or refuses connections, and to a read that it dies in', async () => {
  const asked = async (path: string, body?: string) => {
    const answer = await fetch(`${root}${path}`, body ? { method: 'POST', body } : {})
    const names = ['access-control-allow-origin', 'access-control-expose-headers']
    const forSites = names.map((name) => answer.headers.get(name))
    const waits = Number(answer.headers.get('retry-after')) > 0
    return [answer.status, waits, Object.keys((await answer.json()) as object), ...forSites]
  }
  const unavailable = [503, true, ['detail'], '*', 'Retry-After, X-Request-Id']
  expect(await asked('/v1/workspace')).toEqual([503, true, ['detail'], null, null])
  isAway = true
  expect(await asked('/api/v1/growth/track', 'x')).toEqual(unavailable)
  isAway = false
  handle = (incoming) => incoming.socket.destroy()
  expect(await asked('/api/v1/growth/health')).toEqual(unavailable)
  upstream.closeAllConnections()
  await new Promise((resolve) => upstream.close(resolve))
  expect(await asked('/api/v1/growth/track', 'x')).toEqual(unavailable)
  upstream.listen(upstreamPort, '127.0.0.1')
  await once(upstream, 'listening')
})

test('a connection stays after a 503, as the answer says', async () => {
  isAway = true
  const post = `${track('Content-Length: 3')}abc`
  const { text, statuses, closedAfterMs } = await exchange(front.port, [post, 100, post, 100, read], {
    until: /(HTTP\/1\.1 503 [\s\S]*){3}$/,
  })
  expect(statuses).toEqual([503, 503, 503])
  expect(text).toMatch(/^connection: keep-alive\r$/im)
  expect(closedAfterMs).toBeUndefined()
})

test('a proxy in front may keep a connection idle for two minutes, as Caddy does', async () => {
  const { text } = await exchange(front.port, ['GET / HTTP/1.1\r\nHost: x\r\n\r\n'], { until: '</h1>' })
  expect(Number(/^keep-alive: timeout=(\d+)\r$/im.exec(text)?.[1])).toBeGreaterThan(120)
})

test('a 503 comes soon also to a body that goes on, and ends its connection', async () => {
  isAway = true
  const sent = [track('Content-Length: 10000000'), 'abc']
  const { statuses, closedAfterMs } = await exchange(front.port, sent)
  expect(statuses).toEqual([503])
  expect(closedAfterMs).toBeDefined()
})

test.each([
  ['the whole request', 'end'],
  ['a part of the body', 'data'],
])('cuts the connection without an answer when a service dies after it was sent %s', async (_, moment) => {
  handle = (incoming) => incoming.resume().on(moment, () => incoming.socket.destroy())
  const length = moment === 'end' ? large.length : 2 * large.length
  const { text, closedAfterMs } = await exchange(front.port, [track(`Content-Length: ${length}`), large])
  expect(text).toBe('')
  expect(closedAfterMs).toBeDefined()
})

test('cuts the answer of a service that dies in the middle of it, so that it is not taken for whole', async () => {
  handle = (incoming, response) => {
    response.writeHead(200, { 'Content-Length': 100 }).write('half')
    setTimeout(() => incoming.socket.destroy(), 50)
  }
  const answer = await fetch(`${root}/api/v1/growth/health`)
  await expect(answer.text()).rejects.toThrow()
})

test.each([
  ['asks for it', 'HTTP/1.1', 'Connection: close'],
  ['speaks HTTP/1.0', 'HTTP/1.0', 'X: 1'],
  ['speaks HTTP/1.0 and would keep it', 'HTTP/1.0', 'Connection: keep-alive'],
])('ends the connection of a sender who %s with a forwarded answer', async (_, version, header) => {
  handle = (_incoming, response) => {
    // Its length isn't said: HTTP/1.0 knows no chunks.
    response.write('half')
    response.end(' and half')
  }
  const head = `GET /api/v1/growth/health ${version}\r\nHost: x\r\n${header}\r\n\r\n`
  const { text, statuses, closedAfterMs } = await exchange(front.port, [head])
  expect([statuses, closedAfterMs]).toEqual([[200], expect.any(Number)])
  expect(text).toMatch(/^connection: close\r$/im)
  if (version === 'HTTP/1.0') expect(text).toMatch(/\r\n\r\nhalf and half$/)
})

test.each([
  ['what is no HTTP', 'GET /svc.js\r\nX-Request-Id: mine\r\n\r\n', 400, '\\S+'],
  ['headers that are too large', `GET /svc.js HTTP/1.1\r\nHost: x\r\nX: ${large}\r\n\r\n`, 431, '\\S+'],
  [
    'too many headers for uWebSockets.js',
    track(Array.from({ length: 100 }, (_, at) => `X-${at}: 1`).join('\r\n')),
    431,
    '\\S+',
  ],
  ['no host', 'GET /svc.js HTTP/1.1\r\nX-Request-Id: mine\r\n\r\n', 400, 'mine'],
  ['two hosts', 'GET /svc.js HTTP/1.1\r\nHost: x\r\nHost: y\r\nX-Request-Id: mine\r\n\r\n', 400, 'mine'],
  ['a bad chunk', `${track('Transfer-Encoding: chunked')}z\r\n`, 400, '\\S+'],
  ['two lengths', track('Content-Length: 1\r\nContent-Length: 2'), 400, '\\S+'],
  ['a length and chunks', track('Content-Length: 1\r\nTransfer-Encoding: chunked'), 400, '\\S+'],
  ['an unknown encoding', track('Transfer-Encoding: chunked, x'), 400, '\\S+'],
  ['a coding before the chunks', track('Transfer-Encoding: gzip, chunked'), 400, '\\S+'],
  ['two hosts, and what stands behind', `${read.replace('Host', 'Host: y\r\nHost')}${read}`, 400, '\\S+'],
  ['a folded header', track('X: 1\r\n\tTransfer-Encoding: chunked\r\nContent-Length: x'), 400, '\\S+'],
])('refuses %s with a body and an id, and asks no service', async (_, sent, status, id) => {
  let isAsked = false
  handle = (_incoming, response) => {
    isAsked = true
    response.end()
  }
  const { text, statuses, closedAfterMs } = await exchange(front.port, [`${sent}0\r\n\r\n`])
  expect([statuses, closedAfterMs]).toEqual([[status], expect.any(Number)])
  expectRefusal(text, id)
  expect(isAsked).toBe(false)
})

test.each([
  ['is nonsense', 'nonsense\r\n\r\n'],
  ['has a bad chunk', `${track('Transfer-Encoding: chunked')}z\r\n`],
])('answers the requests before one that %s', async (_, bad) => {
  let asked = 0
  handle = (_incoming, response) => void setTimeout(() => response.end(`answer ${++asked}`), 100)
  const { text, statuses } = await exchange(front.port, [`${read}${read}${bad}`])
  expect([statuses, text]).toEqual([[200, 200, 400], expect.stringMatching(/answer 1[\s\S]*answer 2[\s\S]*"detail"/)])
  expect(asked).toBe(2)
})

test('a method that nobody knows is answered as the service answers any that it does not take', async () => {
  handle = ({ method, url, headers }, response) => {
    expect([method, url]).toEqual(['TRACE', '/svc.js'])
    const own = { Allow: 'GET, HEAD', 'X-Request-Id': headers['x-request-id'], 'Content-Type': 'application/json' }
    response.writeHead(405, own).end('{"detail":"Method Not Allowed"}')
  }
  for (const path of ['/svc.js?key=x', '/']) {
    const head = `FOO ${path} HTTP/1.1\r\nHost: x\r\nX-Request-Id: mine\r\n\r\n`
    const { text, statuses, closedAfterMs } = await exchange(front.port, [head])
    expect([path, statuses, closedAfterMs]).toEqual([path, [405], expect.any(Number)])
    expect(text).toMatch(/^allow: GET, HEAD\r$/im)
    expectRefusal(text, 'mine')
  }
  isAway = true
  expect((await exchange(front.port, ['FOO /svc.js HTTP/1.1\r\nHost: x\r\n\r\n'])).statuses).toEqual([503])
})

test('ends a connection whose body goes on after the answer', async () => {
  handle = (_incoming, response) => response.writeHead(413, { Connection: 'close' }).end('{}')
  const sent = [track('Content-Length: 10000000'), large]
  const { statuses, closedAfterMs } = await exchange(front.port, sent)
  expect(statuses).toEqual([413])
  expect(closedAfterMs).toBeDefined()
})

test('refuses a body that ingest would not read to its end by itself', async () => {
  let asked = false
  handle = () => (asked = true)
  const { statuses } = await exchange(front.port, [track('Content-Length: 20000000'), large])
  expect([statuses, asked]).toEqual([[413], false])
})

test('no request goes into a connection that a service closes behind a body in chunks, as uWebSockets.js does without a word', async () => {
  const silent = createSocketServer((socket) => {
    socket.on('error', () => {})
    let head = ''
    socket.on('data', (bytes) => {
      head += bytes.toString('latin1')
      if (!head.includes('\r\n\r\n')) return
      const isLast = /^connection: close\r$/im.test(head)
      if (isLast && !head.endsWith('0\r\n\r\n')) return
      head = ''
      socket.write('HTTP/1.1 202 Accepted\r\nContent-Length: 2\r\n\r\n{}')
      if (isLast) setTimeout(() => socket.end(), 20)
    })
  })
  const { port } = await listening(silent)
  const other = await startFront({ ...options, portOf: () => port })
  const send = async (init: RequestInit) =>
    (await fetch(`http://127.0.0.1:${other.port}/api/v1/growth/track`, init)).status
  const chunks = () => new Blob(['{}']).stream()
  for (let round = 0; round < 10; round++) {
    expect(await send({ method: 'POST', body: chunks(), duplex: 'half' } as RequestInit)).toBe(202)
    expect(await send({ method: 'GET' })).toBe(202)
  }
  await other.close()
  silent.close()
})

test('a sender asks a service one request at a time, however many are sent ahead, with or without a host in the target', async () => {
  let underWay = 0
  let most = 0
  let answered = 0
  handle = (_, response) => {
    most = Math.max(most, ++underWay)
    setTimeout(() => {
      underWay--
      response.end(++answered === 20 ? 'the last' : '{}')
    }, 10)
  }
  const named = read.replace('GET /', 'GET http://x:1/')
  const sent = read + named + track('Content-Length: 0') + named
  const { statuses } = await exchange(front.port, [sent.repeat(5)], { until: 'the last' })
  expect([statuses, most]).toEqual([Array(20).fill(200), 1])
})

test('lets go of a service when the sender vanishes', async () => {
  const begun = new Promise<IncomingMessage>((resolve) => {
    handle = resolve
  })
  const asked = request(`${root}/api/v1/growth/track`, { method: 'POST' })
  asked.on('error', () => {})
  asked.write(large)
  const incoming = await begun
  asked.destroy()
  await new Promise((resolve) => incoming.resume().on('close', resolve))
  expect(incoming.complete).toBe(false)
})

test('shows its page to browsers, with a request id and in no frame, and nothing else at the root', async () => {
  const page = await fetch(`${root}/?x`, { headers: { 'x-request-id': 'mine' } })
  expect([page.status, page.headers.get('x-request-id'), await page.text()]).toEqual([200, 'mine', '<h1>well</h1>'])
  for (const rule of ['frame-ancestors', 'base-uri', 'form-action']) {
    expect(page.headers.get('content-security-policy')).toContain(`${rule} 'none'`)
  }
  expect(page.headers.get('x-content-type-options')).toBe('nosniff')
  const others = ['HEAD', 'POST'].map(async (method) => (await fetch(`${root}/`, { method })).status)
  expect(await Promise.all(others)).toEqual([200, 405])
})

test('everything at a short domain goes to ingest, with its host: also what has a page elsewhere', async () => {
  const demo = { answer: async () => ({ status: 200, headers: {}, body: 'demo' }) }
  const isAtShortDomain = (host: string) => host === 'go.example.com'
  const other = await startFront({ ...options, isAtShortDomain, demo: demo as never })
  const ask = (path: string, host: string) =>
    exchange(other.port, [`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`])
  for (const path of ['/', '/spring', '/demo/', '/dashboard', '/v1/links', '/mcp']) {
    const { text } = await ask(path, 'Go.Example.com:8080')
    expect(text).toContain(`"url":"${path}"`)
    expect(text).toContain('"host":"Go.Example.com:8080"')
  }
  expect((await ask('/', 'www.example.com')).text).toContain('<h1>well</h1>')
  // The host of the target counts (RFC 9112, 3.2.2).
  for (const [target, url, host] of [
    ['http://go.example.com/spring?a=b', '/spring?a=b', 'go.example.com'],
    ['HTTP://me@go.example.com:8080', '/', 'go.example.com:8080'],
  ] as const) {
    const { text } = await ask(target, 'www.example.com')
    expect(text).toContain(`"url":"${url}"`)
    expect(text).toContain(`"host":"${host}"`)
  }
  expect((await ask('http://www.example.com/', 'go.example.com')).text).toContain('<h1>well</h1>')
  expect((await ask('/spring', 'www.example.com')).text).toMatch(/^HTTP\/1.1 503/)
  await other.close()
})

test('short links go to ingest: under `/l`, under a path of their own, or right under the host beside all the rest', async () => {
  const statusOf = async (port: number, path: string) => (await fetch(`http://127.0.0.1:${port}${path}`)).status
  expect(await statusOf(front.port, '/l/Ab12Cd34')).toBe(200)
  for (const [shortLinkPath, link] of [
    ['', '/spring-sale/'],
    ['', '/s%70ring-sale'],
    ['/go.to', '/go.to/Ab12Cd34'],
  ] as const) {
    const other = await startFront({ ...options, shortLinkPath })
    expect(await statusOf(other.port, link)).toBe(200)
    // The API's, which is away.
    for (const path of ['/v1/links', '/goxto/Ab12Cd34', '/metrics', '/Docs', '/a.b'])
      expect([path, await statusOf(other.port, path)]).toEqual([path, 503])
    await other.close()
  }
})

test.each(['127.0.0.1', 'localhost', '0.0.0.0', '0'])(
  'a front on %s answers at both addresses of localhost',
  async (host) => {
    const local = await startFront({ ...options, host })
    for (const name of ['127.0.0.1', '[::1]']) {
      const { status } = await fetch(`http://${name}:${local.port}/`)
      expect([name, status]).toEqual([name, 200])
    }
    await local.close()
  },
)

test('a front on one address takes whoever comes from that address for this machine', async () => {
  const own = await startFront({ ...options, host: '127.0.0.2' })
  const senderOf = async (localAddress: string) => {
    const asked = request({ host: '127.0.0.2', port: own.port, path: '/api/v1/growth/health', localAddress }).end()
    const [response] = (await once(asked, 'response')) as [IncomingMessage]
    return JSON.parse((await response.toArray()).join('')).headers['x-forwarded-for']
  }
  expect([await senderOf('127.0.0.2'), await senderOf('127.0.0.3')]).toEqual(['127.0.0.1', '127.0.0.3'])
  await own.close()
})

test('a front on 0.0.0.0 starts beside a proxy that has the port of IPv6, one for this machine alone does not', async () => {
  const proxy = createSocketServer().listen({ host: '::', ipv6Only: true, port: 0 })
  await once(proxy, 'listening')
  const { port } = proxy.address() as AddressInfo
  const open = await startFront({ ...options, host: '0.0.0.0', port })
  expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(200)
  await open.close()
  await expect(startFront({ ...options, port })).rejects.toThrow(`port ${port} is in use`)
  proxy.close()
})
