/** No raw address in any file, table, queue or log, whichever way it came in. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { expect, test } from 'vitest'
import { ipv4Of, ipv6Of, type Trace, tracesIn, tracesInFiles } from '../support/address-traces.ts'
import { runSvc } from '../support/command-line.ts'
import { untilShipped } from '../support/ingest.ts'
import { setUpProduct, withStores } from '../support/product.ts'
import { bytesOfClickHouse, bytesOfPostgres, bytesOfRedis, type StoredBytes } from '../support/store-bytes.ts'
import { setUpFolder } from '../support/test-folder.ts'

const chrome =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36'
const googlebot = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)'

const running = setUpProduct({
  LOG_LEVEL: 'debug',
  TRUSTED_PROXIES: '127.0.0.1,::1',
  BOT_DNS_SERVERS: '127.0.0.1:9',
})
const dev = () => running.product.dev

const front = () => dev().base_url.replace(/\/v1$/, '')
const growth = '/api/v1/growth'

/** Addresses that a way in is tried with. Four bytes may be found by chance; those of three addresses aren't. */
type Way = readonly [name: string, statuses: readonly number[], send: (address: string) => Promise<number[]>]

interface Sent {
  readonly address?: string | undefined
  readonly agent?: string
  readonly body?: unknown
  readonly headers?: object
}

async function send(method: string, url: string, { address, agent = chrome, body, headers = {} }: Sent) {
  const response = await fetch(url, {
    method,
    redirect: 'manual',
    headers: {
      'User-Agent': agent,
      ...(address !== undefined && { 'X-Forwarded-For': address }),
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  await response.arrayBuffer()
  return response.status
}

const tracked = (more: object = {}) => ({
  tracking_key: dev().tracking_key,
  event_name: 'pageview',
  url: 'https://www.example.com/',
  ...more,
})
const bearer = () => ({ Authorization: `Bearer ${dev().api_key}` })
let events = 0
const clientEventId = () => `event-${events++}`
const post = (path: string, address: string | undefined, body: unknown, agent = chrome) =>
  send('POST', front() + growth + path, { address, body, agent })
const asked = (method: string, path: string, address: string, more: Sent = {}) =>
  send(method, front() + path, { address, headers: bearer(), ...more })

const ways: readonly Way[] = [
  ['an event, through the front', [202], async (address) => [await post('/track', address, tracked())]],
  [
    'an event, straight to ingest',
    [202],
    async (address) => [await send('POST', `${dev().tracking_url}/track`, { address, body: tracked() })],
  ],
  ['an event’s `ip`', [202], async (ip) => [await post('/track', undefined, tracked({ ip, user_agent: chrome }))]],
  [
    'a batch of events with `ip`',
    [202],
    async (ip) => {
      const events = [
        { event_name: 'pageview', ip, client_event_id: clientEventId() },
        { event_name: 'old', ip, occurred_at: '2020-01-01T00:00:00Z' },
        { event_name: 'odd', ip, email: 7 },
        { event_name: 'crawled', ip, user_agent: googlebot },
      ]
      return [await post('/track/batch', undefined, { tracking_key: dev().tracking_key, events })]
    },
  ],
  [
    'people: identify, conversion, a repeat',
    [202, 202, 202],
    async (ip) => {
      const person = { email: 'ada@example.com', anonymous_id: 'a-1', ip, client_event_id: clientEventId() }
      const identify = tracked({ event_type: 'identify', event_name: 'identify', ...person })
      const signup = tracked({ event_type: 'conversion', event_name: 'signup', email: 'ada@example.com', ip })
      return [await post('/track', ip, identify), await post('/track', ip, identify), await post('/track', ip, signup)]
    },
  ],
  [
    'a crawler on the events’ endpoint',
    [202],
    async (address) => [await post('/track', address, tracked(), googlebot)],
  ],
  [
    'crawlers that a server tells of',
    [202, 202, 422],
    async (ip) => {
      const visit = { url: 'https://www.example.com/x', user_agent: googlebot, ip }
      const key = { tracking_key: dev().tracking_key }
      return [
        await post('/bots/track', ip, { ...key, ...visit }),
        await post('/bots/track', undefined, { ...key, visits: [visit, { ...visit, status_code: 7 }] }),
        await post('/bots/track', undefined, { ...key, ...visit, user_agent: undefined }),
      ]
    },
  ],
  [
    'refused events',
    [401, 422, 422, 422, 422, 413, 405, 404],
    async (ip) => [
      await post('/track', ip, { tracking_key: 'svc_pk_000000000000000000000000', event_name: 'x', ip }),
      await post('/track', ip, tracked({ event_name: '', ip })),
      await post('/track', ip, tracked({ ip: `${ip}${' '.repeat(64)}` })),
      await post('/track', ip, `{"tracking_key": "${dev().tracking_key}", "ip": "${ip}"`),
      await post('/track', ip, `"${ip}"`),
      await post('/track', ip, tracked({ ip, properties: { long: 'x'.repeat(70_000) } })),
      await asked('GET', `${growth}/track`, ip, { headers: {} }),
      await asked('GET', `${growth}/none`, ip, { headers: {} }),
    ],
  ],
  [
    'short links',
    [302, 302, 302, 404],
    async (address) => {
      const link = `/l/${await shortLinkKey()}`
      return [
        await asked('GET', link, address, { headers: {} }),
        await asked('HEAD', link, address, { headers: {} }),
        await asked('GET', link, address, { headers: {}, agent: googlebot }),
        await asked('GET', '/l/zzzzzzzz', address, { headers: {} }),
      ]
    },
  ],
  [
    'questions to the API',
    [200, 200, 404, 422, 401, 404],
    async (address) => [
      await asked('GET', '/v1/workspace', address),
      await asked('GET', '/v1/analytics/overview?days=1', address),
      await asked('GET', '/v1/posts/999999', address),
      await asked('GET', '/v1/posts?limit=x', address),
      await asked('GET', '/v1/workspace', address, { headers: { Authorization: 'Bearer none' } }),
      await asked('GET', '/v1/none', address),
    ],
  ],
  [
    'changes by the API',
    [200, 200, 422, 404],
    async (address) => {
      const body = { title: 'A post', base_caption: 'Hello' }
      const once = { body, headers: { ...bearer(), 'Idempotency-Key': clientEventId() } }
      return [
        await asked('POST', '/v1/posts', address, once),
        await asked('POST', '/v1/posts', address, once),
        await asked('POST', '/v1/posts', address, { body: { title: '' } }),
        await asked('POST', '/v1/posts/999999/archive', address),
      ]
    },
  ],
  [
    'pages',
    [200, 200, 200, 200, 200, 200],
    async (address) => {
      const paths = [
        '/',
        '/docs',
        `/svc.js?key=${dev().tracking_key}`,
        '/demo/',
        '/v1/openapi.json',
        `${growth}/health`,
      ]
      return Promise.all(paths.map((path) => asked('GET', path, address, { headers: {} })))
    },
  ],
]

const folder = setUpFolder()
/** Output of the commands. */
let said = ''

/** Replays a log of a person's request and a crawler's from each address in three ways. @returns exit codes */
async function replayLog(addresses: readonly string[]): Promise<number[]> {
  const file = join(folder, 'access.log')
  const line = (address: string, agent: string) =>
    `${address} - - [20/Nov/2026:10:00:00 +0000] "GET /x HTTP/1.1" 200 100 "-" "${agent}"\n`
  writeFileSync(file, addresses.map((address) => line(address, chrome) + line(address, googlebot)).join(''))
  const codes: number[] = []
  for (const options of [['--shift-to-now'], ['--shift-to-now', '--bots', '--everybody'], ['--import']]) {
    const { code, out, err } = await runSvc(['replay', file, ...options], { DATA_DIR: running.dataDir })
    codes.push(code)
    said += out + err
  }
  return codes
}

/**
 * The services' last lines above the level of a note (30 is pino's `info`): why an answer was another than expected.
 */
function warnings(): string {
  return ['ingest', 'api']
    .flatMap((name) => readFileSync(join(running.dataDir, 'logs', `${name}.log`), 'utf8').split('\n'))
    .filter((line) => Number(/"level":(\d+)/.exec(line)?.[1]) > 30)
    .slice(-10)
    .join('\n')
}

let linkKey: string | undefined
async function shortLinkKey(): Promise<string> {
  if (linkKey !== undefined) return linkKey
  const response = await fetch(`${front()}/v1/links`, {
    method: 'POST',
    headers: { ...bearer(), 'Content-Type': 'application/json' },
    body: JSON.stringify({ label: 'a', destination_url: 'https://www.example.com/sale' }),
  })
  const { attribution_key } = (await response.json()) as { attribution_key: string }
  linkKey = attribution_key
  return attribution_key
}

const perWay = 3
const lastBytesOf = (way: number) => Array.from({ length: perWay }, (_, at) => 16 + way * perWay + at)
/** All in IPv4, and the first one in two forms of IPv6. */
const addressesOf = (way: number) => {
  const last = lastBytesOf(way)
  return [...last.map(ipv4Of), ipv6Of(last[0]!), `::ffff:${ipv4Of(last[0]!)}`]
}
const wayOfByte = (last: number) => Math.floor((last - 16) / perWay)

/** Traces of the addresses in the whole product. */
async function look(): Promise<{ traces: Trace[]; places: string[] }> {
  const traces: Trace[] = []
  const places: string[] = []
  const take = ({ place, bytes }: StoredBytes) => {
    places.push(place)
    traces.push(...tracesIn(bytes, place))
  }
  await withStores(running.product, async ({ pg, ch }) => {
    for await (const stored of bytesOfPostgres(pg)) take(stored)
    for await (const stored of bytesOfClickHouse(ch)) take(stored)
  })
  for await (const stored of bytesOfRedis(dev().redis_url)) take(stored)
  const { traces: inFiles, files } = tracesInFiles(running.dataDir)
  traces.push(...inFiles, ...tracesIn(Buffer.from(running.product.output + said), 'what was printed'))
  return { traces, places: [...places, `${files} files`] }
}

/** Those that are none of chance: four bytes count where they are found of every address of a way. */
function leaks(traces: readonly Trace[]): string[] {
  const bare = new Set(traces.map((trace) => trace.bare))
  return traces
    .filter(({ bare: last }) => last === null || lastBytesOf(wayOfByte(last)).every((each) => bare.has(each)))
    .map(({ place, found }) => `${place}: ${found}`)
}

test('no way in leaves an address in any file, table, queue or log', async () => {
  for (const [at, [name, expected, sendFrom]] of ways.entries()) {
    for (const address of addressesOf(at)) {
      const statuses = await sendFrom(address)
      expect([name, statuses], warnings()).toEqual([name, expected])
    }
  }
  expect(await replayLog(addressesOf(ways.length + 1))).toEqual([0, 0, 0])
  // Failed requests leave nothing, either: with a store away, and with ingest killed under it.
  const away = lastBytesOf(ways.length)
  for (const name of ['postgres', 'clickhouse', 'redis', 'ingest'] as const) {
    running.product.kill(name)
    for (const address of [...away.map(ipv4Of), ipv6Of(away[0]!)]) await failing(address)
    await serves()
  }
  // It can fail: these addresses are found in each of these places.
  await plant()
  await untilShipped(dev().tracking_url)
  const { traces, places } = await look()
  const [found, planted] = [leaks(traces), /91\.17\.203\.7(?!\d)|2e07|planted/]
  expect(found.filter((leak) => !planted.test(leak))).toEqual([])
  const looked = ['ClickHouse svc.events', 'Postgres public.inbox', 'Postgres public.planted', 'Redis 0 planted']
  for (const place of [...looked, running.dataDir]) expectBegun(found, place)
  for (const place of ['Postgres public.audit_events', 'ClickHouse svc.bot_visits']) expectBegun(places, place)
})

function expectBegun(all: readonly string[], by: string): void {
  expect(
    all.some((each) => each.startsWith(by)),
    by,
  ).toBe(true)
}

/** Whatever becomes of it. */
async function failing(address: string): Promise<void> {
  const body = { tracking_key: `svc_pk_${address.length}`.padEnd(31, 'a'), event_name: 'x', ip: address }
  const sent = [
    post('/track', address, tracked({ ip: address })),
    post('/track', address, body),
    send('GET', `${front()}/v1/analytics/overview`, { address, headers: bearer() }),
    send('POST', `${front()}/v1/posts`, { address, headers: bearer(), body: { title: 'A', base_caption: 'B' } }),
  ]
  await Promise.allSettled(sent)
}

async function serves(): Promise<void> {
  const isWell = async () =>
    (await send('GET', `${front()}/v1/analytics/overview?days=1`, { headers: bearer() }).catch(() => 0)) === 200 &&
    (await post('/track', undefined, tracked()).catch(() => 0)) === 202
  for (let waited = 0; !(await isWell()); waited += 200) {
    if (waited > 60_000) throw new Error('it does not serve again')
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}

async function plant(): Promise<void> {
  const text = ipv4Of(7)
  const person = { event_type: 'identify', event_name: 'i', email: 'a@b.example', properties: { text } }
  const events = [tracked({ url: `https://www.example.com/?from=${text}` }), tracked(person)]
  for (const event of events) await post('/track', undefined, event)
  const redis = new Redis(dev().redis_url)
  await redis.hset('planted', 'field', ipv6Of(7))
  redis.disconnect()
  const table = 'CREATE TABLE planted AS SELECT $1::inet AS address, $2::bytea AS bytes'
  await withStores(running.product, ({ pg }) => pg.query(table, [text, Buffer.from('5b11cb07', 'hex')]))
}

test('an address is found in every form; four bytes are chance, unless those of all addresses of a way are there', () => {
  const text = ipv4Of(7)
  const bytes = (hex: string) => Buffer.from(hex, 'hex')
  const forms = [
    ...[text, ipv6Of(7), ipv6Of(7).toUpperCase(), `x${1527892743}y`].map((form) => Buffer.from(form)),
    bytes('5b11cb07'),
    bytes('07cb115b'),
    Buffer.from('5b11cb07'),
    Buffer.from('5B11CB07'),
    bytes('2a0280705e1b93c7'),
    bytes('c7931b5e7080022a'),
    Buffer.from('2a0280705e1b93c7'),
  ]
  for (const form of forms) expect(tracesIn(form, 'a form'), form.toString('latin1')).not.toEqual([])
  expect(
    leaks([7, 20, 30].flatMap((last) => tracesIn(bytes(`5b11cb${last.toString(16).padStart(2, '0')}`), ''))),
  ).toEqual([])
  expect(leaks(lastBytesOf(0).flatMap((last) => tracesIn(bytes(`5b11cb${last.toString(16)}`), '')))).toHaveLength(
    perWay,
  )
})
