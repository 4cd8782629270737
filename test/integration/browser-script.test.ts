/** `GET /svc.js`: what is served for which key, how it is cached and compressed, and what an outage of Postgres changes. */
import { once } from 'node:events'
import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { createTrackingKey } from '../../postgres/tables/workspaces/tracking-keys.ts'
import { changeWorkspace } from '../../postgres/tables/workspaces/workspaces.ts'
import { makeTrackingKey } from '../../schemas/keys.ts'
import { startIngest, type TestIngest } from '../support/ingest.ts'
import { setUpStores } from '../support/stores.ts'
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts'

const stores = setUpStores()
let ingest: TestIngest
let proxy: TcpProxy
beforeAll(async () => {
  proxy = await startTcpProxy(stores.databaseUrl)
  ingest = await startIngest(stores, { DATABASE_URL: proxy.url, API_HOST: 'https://stats.example.com/' })
})
afterEach(() => proxy.set('open'))
afterAll(async () => {
  await ingest?.stop()
  await proxy?.close()
})

interface Script {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  readonly bytes: number
}

/** Not by `fetch`, which unpacks what it gets. */
async function ask(query: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Script> {
  const asked = request({ port: ingest.port, path: `/svc.js${query}`, method, headers, agent: false })
  asked.end()
  const [answer] = (await once(asked, 'response')) as [IncomingMessage]
  const body = Buffer.concat((await answer.toArray()) as Buffer[])
  const unpack = { br: brotliDecompressSync, gzip: gunzipSync }[answer.headers['content-encoding'] ?? '']
  const text = (unpack && body.length > 0 ? unpack(body) : body).toString()
  return { status: answer.statusCode!, headers: answer.headers, text, bytes: body.length }
}

const ofKey = (rest = '') => `?key=${ingest.key}${rest}`
const configOf = ({ text }: Script) => JSON.parse(/\((\["[^()]*\])\)\n$/.exec(text)![1]!) as unknown[]

test('a script has its key, the product’s address and its flags in it, so that it needs no second request', async () => {
  const plain = await ask(ofKey())
  expect(plain.status).toBe(200)
  expect(plain.headers).toMatchObject({
    'content-type': 'text/javascript; charset=utf-8',
    'cache-control': 'public, max-age=3600',
    'access-control-allow-origin': '*',
    'cross-origin-resource-policy': 'cross-origin',
    'x-content-type-options': 'nosniff',
    vary: 'Accept-Encoding',
    etag: expect.stringMatching(/^W\/"[\w-]{22}"$/),
  })
  expect(plain.headers['set-cookie']).toBeUndefined()
  const late = expect.stringMatching(/^svc\.js\?late=[\w-]{6}#$/)
  expect(configOf(plain)).toEqual([ingest.key, 'https://stats.example.com/', late, 0, 0])
  const flags = async (rest: string) => configOf(await ask(ofKey(rest))).slice(3)
  expect(await flags('&autocapture=false')).toEqual([1, 0])
  expect(await flags('&require_consent=true')).toEqual([0, 1])
  expect(await flags('&respect_gpc=false')).toEqual([0, 2])
  expect(await flags('&require_consent=true&respect_gpc=false&autocapture=false')).toEqual([1, 1])
  expect(await flags('&require_consent=1&autocapture=no&other=x')).toEqual([0, 0])
})

test.each([
  ['gzip, deflate, br, zstd', 'br'],
  ['GZIP;q=0.5', 'gzip'],
  ['deflate, br;q=0, gzip;q=0.0', undefined],
])('for a browser that takes "%s" it is in %s, and the script the same', async (taken, encoding) => {
  const plain = await ask(ofKey())
  const packed = await ask(ofKey(), { 'Accept-Encoding': taken })
  expect(packed.headers['content-encoding']).toBe(encoding)
  expect(packed.text).toBe(plain.text)
  expect(packed.headers['etag']).toBe(plain.headers['etag'])
  if (encoding !== undefined) expect(packed.bytes).toBeLessThan(plain.bytes / 1.8)
})

test('who has it is answered 304 without it, until another configuration is asked for', async () => {
  const { headers } = await ask(ofKey())
  const etag = headers['etag']!
  for (const known of [etag, etag.slice(2), `"other", ${etag}`, '*']) {
    const again = await ask(ofKey(), { 'If-None-Match': known, 'Accept-Encoding': 'br' })
    expect([again.status, again.bytes, again.headers['etag']], known).toEqual([304, 0, etag])
    expect(again.headers['cache-control']).toBe('public, max-age=3600')
  }
  expect((await ask(ofKey('&autocapture=false'), { 'If-None-Match': etag })).status).toBe(200)
})

test('HEAD has the headers of GET and no body; other methods are refused', async () => {
  const get = await ask(ofKey(), { 'Accept-Encoding': 'gzip' })
  const head = await ask(ofKey(), { 'Accept-Encoding': 'gzip' }, 'HEAD')
  expect(head.bytes).toBe(0)
  const { 'x-request-id': _, date: __, ...same } = get.headers
  expect(head.headers).toMatchObject(same)
  expect((await ask(ofKey(), {}, 'POST')).status).toBe(405)
})

test('its second file is kept for ever under its own address, and an old address gets the present one for an hour', async () => {
  const late = configOf(await ask(ofKey()))[2] as string
  const own = await ask(late.slice('svc.js'.length, -1), { 'Accept-Encoding': 'br' })
  expect(own.headers).toMatchObject({
    'cache-control': 'public, max-age=31536000, immutable',
    'content-encoding': 'br',
  })
  expect(own.headers['access-control-allow-origin']).toBe('*')
  expect(own.text).toMatch(/export\{/)
  expect(own.text).not.toContain('file_download')
  const old = await ask('?late=another')
  expect(old.headers['cache-control']).toBe('public, max-age=3600')
  expect(old.text).toBe(own.text)
})

test('what a snippet asks for beside vitals and clicks comes in another second file, which learns it by its address', async () => {
  const lateOf = async (rest: string) => configOf(await ask(ofKey(rest)))[2] as string
  const plain = await lateOf('')
  expect(await lateOf('&downloads=1&not_found=yes&search=')).toBe(plain)
  const asked = await lateOf('&search=true&downloads=true&not_found=true')
  expect(asked).toMatch(/^svc\.js\?late=[\w-]{4}\.7#$/)
  expect(await lateOf('&search=true')).toBe(asked.replace('.7', '.4'))
  // How browsers send it where the page has a bare `&not_found`, by the page's encoding.
  for (const sign of ['%C2%AC', '%AC', '%26%23172%3B']) {
    expect(await lateOf(`&search=true&downloads=true${sign}_found=true`)).toBe(asked)
    expect(await lateOf(`${sign}_found=true`)).toBe(asked.replace('.7', '.2'))
  }
  // Clicks come by no other way then.
  expect(await lateOf('&downloads=true&autocapture=false')).toBe(asked.replace('.7', '.9'))
  const own = await ask(asked.slice('svc.js'.length, -1))
  expect(own.headers['cache-control']).toBe('public, max-age=31536000, immutable')
  expect(own.text).toContain('file_download')
  const old = await ask('?late=another.4')
  expect([old.headers['cache-control'], old.text]).toEqual(['public, max-age=3600', own.text])
})

test.each([
  ['unknown', `?key=${makeTrackingKey()}`],
  ['malformed', '?key=svc_pk_short'],
  ['secret', `?key=svc_sk_${'a'.repeat(38)}`],
  ['hostile', `?key=${encodeURIComponent('");alert(1)//</script>')}`],
  ['missing', ''],
])('a key that is %s gets a script that logs one line, kept for a minute', async (_, query) => {
  const { status, headers, text } = await ask(query)
  expect([status, headers['cache-control']]).toEqual([200, 'public, max-age=60'])
  expect(text).toMatch(/^console\.warn\("[^"]*tracking key[^"]*"\)\n$/)
})

test('a key is served as soon as it is made', async () => {
  const key = await stores.pg.transaction((tx) => createTrackingKey(tx, ingest.workspaceId))
  expect(configOf(await ask(`?key=${key}`))[0]).toBe(key)
})

test('while Postgres is away a known key is served as ever, one that can’t be checked for a minute, and nonsense not', async () => {
  await proxy.set('refusing')
  const known = await ask(ofKey(), { 'Accept-Encoding': 'br' })
  expect([known.status, known.headers['cache-control']]).toEqual([200, 'public, max-age=3600'])
  const key = makeTrackingKey()
  const unsure = await ask(`?key=${key}`, { 'Accept-Encoding': 'br' })
  expect([unsure.status, unsure.headers['cache-control']]).toEqual([200, 'public, max-age=60'])
  expect(configOf(unsure)[0]).toBe(key)
  expect((await ask('?key=nonsense')).text).toContain('console.warn')
})

test('where replay is on the second file is told by its address, and a third is kept for ever under its own', async () => {
  await changeWorkspace(stores.pg, ingest.workspaceId, { replayEnabled: true, replayShare: 25 })
  const address = await vi.waitFor(async () => {
    const late = configOf(await ask(ofKey()))[2] as string
    expect(late).toMatch(new RegExp(`^svc\\.js\\?late=[\\w-]{6}&25=${ingest.key}#$`))
    return late
  }, 60_000)
  const late = await ask(address.slice('svc.js'.length, -1))
  expect(late.headers['cache-control']).toBe('public, max-age=31536000, immutable')
  const [, version] = /svc\.js\?replay=([\w-]{6})/.exec(late.text)!
  const recorder = await ask(`?replay=${version}`, { 'Accept-Encoding': 'gzip' })
  expect(recorder.headers).toMatchObject({
    'cache-control': 'public, max-age=31536000, immutable',
    'content-type': 'text/javascript; charset=utf-8',
    'access-control-allow-origin': '*',
  })
  expect(recorder.text).toContain('rrweb')
  expect((await ask('?replay=another')).headers['cache-control']).toBe('public, max-age=3600')
  await changeWorkspace(stores.pg, ingest.workspaceId, { replayEnabled: false })
  await vi.waitFor(async () => expect(configOf(await ask(ofKey()))[2]).toMatch(/late=[\w-]{6}#$/), 60_000)
})
