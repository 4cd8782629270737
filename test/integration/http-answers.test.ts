/** Common parts of all answers: how they are compressed, and what browsers, proxies and caches are told. */
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { setUpApi } from '../support/api.ts'
import { asking } from '../support/publishing.ts'
import { exchange } from '../support/raw-http.ts'

const { api, mine } = setUpApi()
const ask = asking(api, () => mine.apiKey)
const withKey = () => `Authorization: Bearer ${mine.apiKey}\r\n`
const long = { title: 'Long', base_caption: 'words and more words. '.repeat(90) }

/** Byte by byte: HTTP clients decompress by themselves. */
async function get(path: string, encodings?: string, method = 'GET') {
  const accepting = encodings === undefined ? '' : `Accept-Encoding: ${encodings}\r\n`
  const lines = `${method} ${path} HTTP/1.1\r\nHost: x\r\n${withKey()}${accepting}`
  const { text } = await exchange(api.port, [`${lines}Connection: close\r\n\r\n`])
  const end = text.indexOf('\r\n\r\n')
  const header = (name: string) => new RegExp(`\r\n${name}: (.*)\r\n`, 'i').exec(text.slice(0, end + 2))?.[1]
  return { status: Number(text.slice(9, 12)), header, bytes: Buffer.from(text.slice(end + 4), 'latin1') }
}

const decode = { br: brotliDecompressSync, gzip: gunzipSync }

async function expectIn(
  encoding: keyof typeof decode | undefined,
  accepted: string | undefined,
  path: string,
  content: string,
) {
  const { status, header, bytes } = await get(path, accepted)
  expect([accepted, status, header('Content-Encoding')]).toEqual([accepted, 200, encoding])
  expect([header('Vary'), Number(header('Content-Length'))]).toEqual(['Accept-Encoding', bytes.length])
  const text = (encoding === undefined ? bytes : decode[encoding](bytes)).toString('utf8')
  expect(text).toContain(content)
  const head = await get(path, accepted, 'HEAD')
  expect([head.header('Content-Encoding'), head.bytes.length]).toEqual([encoding, 0])
}

test.each([
  ['/v1/openapi.json', '"openapi":"3.1'],
  ['/docs/swagger-ui.css', '.swagger-ui'],
  ['/metrics', 'svc_api_requests_total'],
])('%s is compressed as it is asked for', async (path, content) => {
  await expectIn('br', 'gzip, deflate, br, zstd', path, content)
  await expectIn('gzip', 'gzip, deflate', path, content)
  await expectIn(undefined, undefined, path, content)
})

test('a longer answer is in the encoding that Accept-Encoding prefers', async () => {
  await ask('POST', '/v1/posts', long)
  for (const [accepted, encoding] of [
    ['gzip, deflate, br, zstd', 'br'],
    ['br;q=0.5, gzip;q=1.0', 'gzip'],
    ['br;q=0, GZIP', 'gzip'],
    ['*', 'br'],
    ['identity', undefined],
    ['gzip;q=0.000, x-gzip', undefined],
    ['*;q=0', undefined],
  ] as const) {
    await expectIn(encoding, accepted, '/v1/posts', 'more words')
  }
})

test('the answer of a mutation is compressed too, and its replay says the same', async () => {
  const body = JSON.stringify(long)
  const type = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\nIdempotency-Key: one\r\n`
  const post = async (encodings: string) => {
    const more = `Connection: close\r\nAccept-Encoding: ${encodings}\r\n`
    const head = `POST /v1/posts HTTP/1.1\r\nHost: x\r\n${withKey()}${type}${more}\r\n`
    const { text } = await exchange(api.port, [head, body])
    return Buffer.from(text.slice(text.indexOf('\r\n\r\n') + 4), 'latin1')
  }
  const plain = await post('identity')
  expect(brotliDecompressSync(await post('br'))).toEqual(plain)
})

test('what a key lets see, secrets among it, is kept by no cache; a short answer is sent as it is', async () => {
  const { header, bytes } = await get('/v1/workspace', 'gzip, br')
  expect(['Content-Encoding', 'Vary', 'Cache-Control'].map(header)).toEqual([undefined, undefined, 'no-store'])
  expect(JSON.parse(bytes.toString())).toMatchObject({ id: mine.workspaceId })
  for (const path of ['/v1/posts/0', '/v1/posts?limit=0'])
    expect((await get(path)).header('Cache-Control')).toBe('no-store')
  const created = await api.ask('/v1/webhooks', {
    method: 'POST',
    key: mine.apiKey,
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ url: 'https://example.com/hook' }),
  })
  expect([created.status, created.headers.get('cache-control')]).toEqual([200, 'no-store'])
})

describe('a header value is read as it was sent', () => {
  const body = '{"title":"a","base_caption":"b"}'
  async function post(header: string | Buffer, authorization = `Bearer ${mine.apiKey}`) {
    const start = `POST /v1/posts HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: `
    const type = `\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n`
    const head = [Buffer.from(start), Buffer.from(authorization), Buffer.from(type), Buffer.from(header as string)]
    return exchange(api.port, [Buffer.concat([...head, Buffer.from(`\r\n\r\n${body}`)])])
  }

  test('an Idempotency-Key that isn’t printable ASCII is 422, at its ends as in its midst', async () => {
    const latin1 = (text: string) => Buffer.from(`Idempotency-Key: ${text}`, 'latin1')
    const keys = ['order-é', 'order-è', 'éorder', 'or\u00e9der', 'é', '\u00a0order', 'order\u0085', 'a\tb']
    for (const key of keys) {
      for (const header of [`Idempotency-Key: ${key}`, latin1(key)]) {
        const { statuses, text } = await post(header)
        expect([key, statuses]).toEqual([key, [422]])
        expect(text).toContain('"type":"string_pattern_mismatch","loc":["header","idempotency-key"]')
      }
    }
    expect(await ask('GET', '/v1/posts')).toEqual({ status: 200, body: [] })
    expect((await post('Idempotency-Key: \t order- 1 \t')).statuses).toEqual([200])
    expect((await post('Idempotency-Key: order- 1')).text).toContain('Idempotent-Replayed: true')
  })

  test('a key with more at its ends is no key', async () => {
    for (const key of [`é${mine.apiKey}`, `${mine.apiKey}é`, `${mine.apiKey}\u00a0`]) {
      expect((await post('X: 1', `Bearer ${key}`)).statuses).toEqual([401])
    }
    expect((await post('X: 1', `éBearer ${mine.apiKey}`)).statuses).toEqual([401])
  })

  test('an X-Request-Id with more at its ends is replaced', async () => {
    for (const id of ['mineé', 'émine']) {
      expect((await post(`X-Request-Id: ${id}`)).text).not.toMatch(/X-Request-Id: mine\r\n/i)
    }
    expect((await post('X-Request-Id: mine')).text).toMatch(/X-Request-Id: mine\r\n/i)
  })
})

test('what is no HTTP, or too much of it, is told so with an id', async () => {
  const cases = [
    ['FOO /v1/posts HTTP/1.1\r\nHost: x\r\n\r\n', 405, 'Allow: GET, HEAD, POST'],
    ['FOO /nothing HTTP/1.1\r\nHost: x\r\n\r\n', 404, 'Not Found'],
    ['hello there\r\n\r\n', 400, 'The request is no HTTP'],
    [`GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(40_000)}\r\n\r\n`, 431, 'The headers of the request are too large'],
  ] as const
  for (const [sent, status, said] of cases) {
    const { statuses, text, closedAfterMs } = await exchange(api.port, [sent])
    expect([said, statuses]).toEqual([said, [status]])
    expect(text).toContain(said)
    expect(text).toMatch(/\r\nX-Request-Id: \S+\r\n/)
    expect(closedAfterMs).toBeDefined()
  }
})

test('HTTP/1.0 and Connection: close are answered, and the connection ends', async () => {
  for (const line of ['HTTP/1.0\r\n', 'HTTP/1.1\r\nHost: x\r\nConnection: close\r\n']) {
    const { statuses, closedAfterMs } = await exchange(api.port, [`GET /v1/workspace ${line}${withKey()}\r\n`])
    expect(statuses).toEqual([200])
    expect(closedAfterMs).toBeDefined()
  }
})
