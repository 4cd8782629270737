/**
 * Events that a running ingest takes, refuses and stores, and the fields that it adds from its tables and the country.
 */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { eventFields } from '../../schemas/event/event-fields.ts'
import { makeWorkspace } from '../support/api.ts'
import { startIngest, type TestIngest } from '../support/ingest.ts'
import { makeLink, makePost } from '../support/publishing.ts'
import { exchange } from '../support/raw-http.ts'
import { setUpStores } from '../support/stores.ts'
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts'

const stores = setUpStores()
let proxy: TcpProxy
let ingest: TestIngest
beforeAll(async () => {
  proxy = await startTcpProxy(stores.databaseUrl)
  ingest = await start()
})
afterAll(async () => {
  await ingest?.stop()
  await proxy?.close()
})

const start = (env: Record<string, string> = {}) =>
  startIngest(stores, { TRUSTED_PROXIES: '127.0.0.1', DATABASE_URL: proxy.url, ...env }, ingest)

const event = (more: Record<string, unknown> = {}) => ({
  tracking_key: ingest.key,
  event_name: 'pageview',
  url: 'https://example.com/pricing',
  anonymous_id: 'visitor-1',
  ...more,
})

async function stored(): Promise<Record<string, unknown>[]> {
  await ingest.shipped()
  return stores.ch.query('SELECT * FROM events ORDER BY id')
}

describe('POST /track', () => {
  it('answers 202 with the id under which the event is then stored', async () => {
    const { status, body, headers } = await ingest.post(
      '/track',
      event({ properties: { plan: 'pro' }, title: 'Pricing' }),
    )
    expect(status).toBe(202)
    expect(body).toEqual({ accepted: true, event_id: expect.any(Number), deduplicated: false })
    expect(headers.get('access-control-allow-origin')).toBe('*')
    expect(headers.get('x-request-id')).toMatch(/^[A-Za-z0-9._:-]+$/)
    const rows = await stored()
    expect(rows.find(({ id }) => id === body.event_id)).toMatchObject({
      workspace_id: ingest.workspaceId,
      event_type: 'track',
      kind: 'pageview',
      path: '/pricing',
      title: 'Pricing',
      source: 'direct',
      properties: '{"plan":"pro"}',
    })
  })

  it('takes an empty text, as null, for a field that was not sent', async () => {
    const others = ['event_name', 'screen_width', 'properties', 'value_cents']
    const names = Object.keys(eventFields).filter((name) => !others.includes(name))
    for (const nothing of ['', null]) {
      const { status, body } = await ingest.post(
        '/track',
        event({ event_name: 'emptied', ...Object.fromEntries(names.map((name) => [name, nothing])) }),
      )
      expect([status, body]).toMatchObject([202, { accepted: true }])
      const row = (await stored()).find(({ id }) => id === body.event_id)
      expect(row).toMatchObject({ event_type: 'track', kind: 'custom', session_named: 0 })
    }
  })

  it('counts a repeated client_event_id once and answers the first one’s id, also where a hundred come at once', async () => {
    const repeat = () => ingest.post('/track', event({ client_event_id: 'once' }))
    const answers = await Promise.all(Array.from({ length: 100 }, repeat))
    const ids = new Set(answers.map(({ body }) => body.event_id))
    expect(answers.every(({ status }) => status === 202)).toBe(true)
    expect((await repeat()).body).toEqual({ accepted: true, event_id: answers[0]!.body.event_id, deduplicated: true })
    expect(ids.size).toBe(1)
    expect((await stored()).filter(({ client_event_id }) => client_event_id === 'once')).toHaveLength(1)
  })

  it('takes no placeholder for an id of an event: they are no repeats of each other', async () => {
    const events = ['null', 'null', ' Undefined', ' Undefined', '[object Object]'].map((id) =>
      event({ client_event_id: id }),
    )
    for (const sent of events) expect((await ingest.post('/track', sent)).body).toMatchObject({ deduplicated: false })
    const batch = await ingest.post('/track/batch', { tracking_key: ingest.key, events })
    expect(batch.body).toMatchObject({ accepted: 5, deduplicated: 0 })
    const visits = ['0', '0'].map((id) => ({
      client_event_id: id,
      url: 'https://example.com/',
      user_agent: 'GPTBot/1.2',
    }))
    const bots = await ingest.post('/bots/track', { tracking_key: ingest.key, visits })
    expect(bots.body).toMatchObject({ accepted: 2, deduplicated: 0 })
  })

  it('keeps the ids of events and of visits apart: an order is no retry of a crawler’s visit', async () => {
    const order = event({ client_event_id: 'request-1' })
    const visit = { client_event_id: 'request-1', url: 'https://example.com/', user_agent: 'GPTBot/1.2' }
    const isRepeat = async (path: string, body: object) =>
      (await ingest.post(path, { tracking_key: ingest.key, ...body })).body.deduplicated
    const send = async () => [await isRepeat('/bots/track', visit), await isRepeat('/track', order)]
    expect([await send(), await send()]).toEqual([
      [false, false],
      [true, true],
    ])
  })

  it('keeps the e-mail of an identify in the inbox and nowhere else', async () => {
    const address = 'Ada.Lovelace@Example.com'
    const { body } = await ingest.post(
      '/track',
      event({ event_type: 'identify', event_name: 'identify', email: ` ${address} `, full_name: 'Ada' }),
    )
    const row = (await stored()).find(({ id }) => id === body.event_id)
    expect(JSON.stringify(row).toLowerCase()).not.toContain('lovelace')
    const inbox = () => stores.pg.query('SELECT * FROM inbox WHERE event_id = $1', [body.event_id])
    const kept = { email: 'ada.lovelace@example.com', full_name: 'Ada', anonymous_id: 'visitor-1' }
    await expect.poll(inbox).toMatchObject([kept])
  })

  it('takes any content type, as beacons send it, and keeps a request id', async () => {
    for (const type of ['text/plain;charset=UTF-8', 'application/x-www-form-urlencoded', 'application/json']) {
      const sent = await ingest.post('/track', event(), { 'Content-Type': type, 'X-Request-Id': 'my-id.1' })
      expect([sent.status, sent.headers.get('x-request-id')]).toEqual([202, 'my-id.1'])
    }
  })
})

describe('POST /track/batch', () => {
  it('takes what is sound, names what isn’t, and counts repeats within it', async () => {
    const events = [
      { event_name: 'a', anonymous_id: 'v', client_event_id: 'batch-1' },
      { event_name: 1 },
      { event_name: 'b', anonymous_id: 'v', client_event_id: 'batch-1' },
      { event_name: 'c', anonymous_id: 'v', value_cents: 1 },
      { event_name: 'd', anonymous_id: 'v', occurred_at: '1970-01-01T00:00:00Z' },
      { event_name: 'e', anonymous_id: 'v', occurred_at: '9999-01-01T00:00:00Z' },
    ]
    const { status, body } = await ingest.post('/track/batch', { tracking_key: ingest.key, events })
    expect(status).toBe(202)
    expect(body).toMatchObject({ accepted: 3, deduplicated: 1 })
    expect(body.event_ids).toHaveLength(3)
    expect(body.event_ids![0]).toBe(body.event_ids![1])
    expect(body.rejected!.map(({ index }) => index)).toEqual([1, 3, 4])
    const now = Date.now()
    const future = (await stored()).find(({ id }) => id === body.event_ids![2])
    expect(Math.abs(Date.parse(`${future!['occurred_at']}Z`.replace(' ', 'T')) - now)).toBeLessThan(60_000)
  })
})

it('an event or a visit with NUL or half a pair is rejected alone, and nothing is where no field is read', async () => {
  const odd = { event_name: 'odd', title: '\ud83d', properties: { a: ['\0'] } }
  const events = [{ event_name: 'unread', 'a\0': '\ud83d' }, odd, { event_name: 'whole 😀' }]
  const faults = (...loc: (string | number)[]) => [
    { type: 'value_error', loc: [...loc, 'properties', 'a', 0] },
    { type: 'string_unicode', loc: [...loc, 'title'], input: '\ufffd' },
  ]
  const batch = await ingest.post('/track/batch', { tracking_key: ingest.key, events, more: '\0' })
  const rejected = [{ index: 1, detail: faults('body', 'events', 1) }]
  expect([batch.status, batch.body]).toMatchObject([202, { accepted: 2, rejected }])
  const nameless = await ingest.post('/track', { tracking_key: ingest.key, more: '\ud83d' })
  expect([nameless.status, JSON.stringify(nameless.body)]).toEqual([422, expect.not.stringContaining('ud83d')])
  const one = await ingest.post('/track', { tracking_key: ingest.key, ...odd })
  expect([one.status, one.body.detail]).toMatchObject([422, faults('body')])
  const visit = { url: '/', user_agent: 'GPTBot/1.2' }
  const visits = [{ ...visit, method: '\0' }, visit]
  const told = await ingest.post('/bots/track', { tracking_key: ingest.key, visits })
  const loc = ['body', 'visits', 0, 'method']
  expect([told.status, told.body]).toMatchObject([202, { accepted: 1, rejected: [{ index: 0, detail: [{ loc }] }] }])
})

describe('bad input', () => {
  const longTitle = 'x'.repeat(30_000)
  const cases: [name: string, body: () => unknown, status: number, detail: unknown][] = [
    ['no body', () => '', 422, [{ type: 'missing', loc: ['body'] }]],
    ['broken JSON', () => '{"a":', 422, [{ type: 'json_invalid', loc: ['body', 5] }]],
    ['bytes that are no UTF-8', () => Buffer.from('{"\xff":1}', 'latin1'), 400, 'There was an error parsing the body'],
    ['an unknown key', () => event({ tracking_key: `svc_pk_${'0'.repeat(24)}` }), 401, 'Unknown tracking key'],
    ['a secret key', () => event({ tracking_key: `svc_sk_${'0'.repeat(38)}` }), 401, 'Unknown tracking key'],
    ['revenue', () => event({ value_cents: 1 }), 422, [{ type: 'extra_forbidden', loc: ['body', 'value_cents'] }]],
    ['a title beyond its bound', () => event({ title: longTitle }), 422, [{ loc: ['body', 'title'] }]],
    ['an old event', () => event({ occurred_at: '1970-01-01T00:00:00Z' }), 422, [{ loc: ['body', 'occurred_at'] }]],
  ]

  it('has a clear answer of a kilobyte at most, and stores nothing', async () => {
    const before = (await stored()).length
    for (const [name, body, status, detail] of cases) {
      const answer = await ingest.post('/track', body())
      expect([name, answer.status]).toEqual([name, status])
      expect(answer.body).toMatchObject({ detail })
      expect(JSON.stringify(answer.body).length).toBeLessThan(2_000)
    }
    const events = [{ event_name: 'a', title: longTitle }]
    const batch = await ingest.post('/track/batch', { tracking_key: ingest.key, events })
    expect([batch.status, JSON.stringify(batch.body).length < 2_000]).toEqual([202, true])
    expect(await stored()).toHaveLength(before)
  })

  it('takes odd but sound bodies: names of prototypes, U+2028, a byte order mark, right-to-left text, 120 emoji', async () => {
    const bodies = [
      JSON.stringify(event()).replace(
        '{',
        '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"toString":1,',
      ),
      event({ properties: JSON.parse('{"__proto__":{"polluted":1},"hasOwnProperty":2}') }),
      event({ event_name: 'a\u2028b' }),
      `\ufeff${JSON.stringify(event())}`,
      event({ event_name: '\u202eabc' }),
      event({ event_name: '🙂'.repeat(120) }),
      JSON.stringify(event()).replace('"event_name":"pageview"', '"event_name":"first","event_name":"last"'),
    ]
    for (const body of bodies) expect((await ingest.post('/track', body)).status).toBe(202)
    expect(({} as { polluted?: number }).polluted).toBeUndefined()
    const names = (await stored()).map(({ event_name }) => event_name)
    expect(names).toContain('🙂'.repeat(120))
    expect(names).toContain('last')
    expect(names).not.toContain('first')
  })

  it('redirects to routes alone, and knows each one’s methods', async () => {
    const ask = async (method: string, path: string) => {
      const { text } = await exchange(ingest.port, [`${method} ${path} HTTP/1.1\r\nHost: a\r\n\r\n`], {
        until: /\r\n\r\n/,
      })
      const header = (name: string) => new RegExp(`\r\n${name}: (.*)\r\n`).exec(text)?.[1]
      return [Number(text.slice(9, 12)), header('Location') ?? header('Allow')]
    }
    const root = '/api/v1/growth'
    expect(await ask('POST', `${root}/track/?a=b`)).toEqual([307, `${root}/track?a=b`])
    expect(await ask('GET', `${root}/health/`)).toEqual([307, `${root}/health`])
    for (const path of ['//evil.com/abc/track/', '/aaaaaaaaaaaaaconstructor/', `${root}/track//`, '/'])
      expect(await ask('GET', path)).toEqual([404, undefined])
    // Each over a connection of its own: an answer that isn't given ends the process.
    for (const path of ['/track', '/track/batch', '/bots/track', '/replay']) {
      for (const method of ['GET', 'HEAD']) expect(await ask(method, root + path)).toEqual([405, 'OPTIONS, POST'])
    }
    for (const path of [`${root}/nope`, '/nope']) expect(await ask('HEAD', path)).toEqual([404, undefined])
    expect(await ask('POST', '/metrics')).toEqual([405, 'GET, HEAD'])
    expect(await ask('POST', `${root}/health`)).toEqual([405, 'GET, HEAD'])
    for (const path of ['/metrics', `${root}/health`]) {
      const [get, head] = await Promise.all(
        ['GET', 'HEAD'].map((method) => fetch(`http://127.0.0.1:${ingest.port}${path}`, { method })),
      )
      expect([head!.status, head!.headers.get('content-type')]).toEqual([200, get!.headers.get('content-type')])
      expect(Number(head!.headers.get('content-length'))).toBeGreaterThan(100)
      expect(await head!.text()).toBe('')
    }
  })

  it('survives garbage; two hosts and a compressed body are refused, and a preflight is answered', async () => {
    const badChunk = 'POST /api/v1/growth/track HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n'
    for (const garbage of ['\x16\x03\x01garbage\r\n\r\n', 'GET / HTTP/9.9\r\n\r\n', badChunk]) {
      expect((await exchange(ingest.port, [garbage])).closedAfterMs).toBeDefined()
    }
    const head = 'POST /api/v1/growth/track HTTP/1.1\r\nHost: x\r\nHost: y\r\nContent-Length: 2\r\n\r\n{}'
    expect((await exchange(ingest.port, [head])).statuses).toEqual([400])
    expect((await ingest.post('/track', '{}', { 'Content-Encoding': 'gzip' })).status).toBe(415)
    const preflight = await fetch(`${ingest.url}/track`, { method: 'OPTIONS' })
    expect([preflight.status, preflight.headers.get('access-control-max-age')]).toEqual([204, '86400'])
    expect((await ingest.post('/track', event())).status).toBe(202)
  })
})

let asked = 0
/** The columns of an event that is sent with these fields and headers, once it is stored. */
async function rowOf(event: object, headers: Record<string, string> = {}): Promise<Record<string, unknown>> {
  return (await rowsOf([event], headers))[0]!
}

/** The same of several, in the order in which they were sent. */
async function rowsOf(events: object[], headers: Record<string, string> = {}): Promise<Record<string, unknown>[]> {
  const named = events.map((event) => ({ event_name: `event-${asked++}`, ...event }))
  const { body } = await ingest.post('/track/batch', { tracking_key: ingest.key, events: named }, headers)
  expect([body.accepted, body.rejected]).toEqual([events.length, []])
  const all = await stored()
  // No country is two zero bytes, whichever way they are shown.
  return body.event_ids!.map((id) => {
    const row = all.find((one) => one['id'] === id)!
    return { ...row, country: String(row['country']).replaceAll('\0', '') }
  })
}

it('an event has the link and the post that its page’s URL names, as far as they are the workspace’s', async () => {
  const { workspaceId: neighbour } = await makeWorkspace(stores)
  const [post, theirPost] = [await makePost(stores, ingest.workspaceId), await makePost(stores, neighbour)]
  const [plain, ofPost, theirs] = [
    await makeLink(stores, ingest.workspaceId, null),
    await makeLink(stores, ingest.workspaceId, post),
    await makeLink(stores, neighbour, theirPost),
  ]
  const at = async (query: string) => {
    const { link_id, post_id } = await rowOf({ url: `https://example.com/sale?${query}` })
    return [link_id, post_id]
  }
  // New links are told of at once, new posts within seconds.
  await vi.waitUntil(async () => (await at(`svc_post_id=${post}`))[1] === post, { timeout: 60_000 })
  expect((await rowOf({ url: ofPost.tracking_url }))['link_id']).toBe(ofPost.id)
  expect(await at(`svc_link_id=${ofPost.id}`)).toEqual([ofPost.id, post])
  expect(await at(`svc_link_id=${plain.id}&svc_post_id=${post}`)).toEqual([plain.id, post])
  expect(await at(`svc_link_id=${theirs.id}&svc_post_id=${theirPost}`)).toEqual([0, 0])
  expect(await at(`svc_link_id=${theirs.id + 1}&svc_post_id=${theirPost + 1}`)).toEqual([0, 0])

  // And so it stays while Postgres is away.
  await proxy.set('refusing')
  expect(await at(`svc_link_id=${ofPost.id}`)).toEqual([ofPost.id, post])
  expect(await at(`svc_post_id=${post}`)).toEqual([0, post])
  expect(await at(`svc_link_id=${theirs.id}&svc_post_id=${theirPost}`)).toEqual([0, 0])
  await proxy.set('open')
})

const dropped = () => ingest.counted('ingest_fields_dropped_total')

it('a measurement beyond all bounds is no sample, and is counted', async () => {
  const vital = ([metric, value]: [string, number]) => ({ event_name: 'web_vital', properties: { metric, value } })
  const good = Object.entries({ LCP: 60_000, CLS: 10 })
  const bad: [string, number][] = [...Object.entries({ LCP: 1e9, FCP: 60_001, INP: 1e5, CLS: 11 }), ['LCP', -1]]
  const rows = await rowsOf([...good, ...bad].map(vital))
  const kept = rows.map(({ metric, metric_value: value }) => [metric, value])
  expect(kept).toEqual([...good, ...bad.map(() => ['none', 0])])
  expect((await dropped())['vital_out_of_bounds']).toBe(bad.length)
})

it('an e-mail that is none makes no contact: it is counted, and the event kept', async () => {
  const bad = ['nope', 'a@b', 'a b@example.com', '@example.com', 'a@example..com', 'a@b@example.com']
  const good = ['Ada@Example.com', 'jörg@müller.example', "o'brien+tag@mail.example.co.uk"]
  const identify = (email: string) => ({ event_type: 'identify', anonymous_id: 'somebody', email })
  expect(await rowsOf([...bad, ...good].map(identify))).toHaveLength(bad.length + good.length)
  const sent = await stores.pg.query<{ email: string | null }>(
    "SELECT email FROM inbox WHERE anonymous_id = 'somebody' ORDER BY event_id",
  )
  expect(sent.map(({ email }) => email)).toEqual([...bad.map(() => null), ...good.map((email) => email.toLowerCase())])
  expect((await dropped())['invalid_email']).toBe(bad.length)
})

it('a text that is no page is none, and no path leads a browser away', async () => {
  const script = 'javascript:alert(1)'
  const bad = [
    script,
    `${script}//https://x.example/`,
    ' javascript://x/%0aalert(1)',
    'JavaScript://x.example/%0aalert(1)',
    'data:text/html,x',
    'no URL',
  ]
  for (const row of await rowsOf(bad.map((url) => ({ url })))) expect(row).toMatchObject({ url: '', path: '' })
  expect((await dropped())['not_a_page_url']).toBe(bad.length)
  const named: [string, string][] = [
    [script, `/${script}`],
    ['//evil.example/x', '/evil.example/x'],
    ['/\\evil.example/x', '/evil.example/x'],
    ['/\t/evil.example/x', '/evil.example/x'],
    ['pricing?x=1', '/pricing'],
    ['https://example.com/a', '/a'],
  ]
  const beside = named.map(([path]) => ({ url: 'https://example.com/b', path }))
  const alone = named.map(([path]) => ({ path }))
  const inUrl = { url: 'https://example.com//evil.example/x' }
  const paths = (await rowsOf([...beside, ...alone, inUrl])).map(({ path }) => path)
  const kept = named.map(([, path]) => path)
  expect(paths).toEqual([...kept, ...kept, '/evil.example/x'])
})

it('an event’s country is the proxy’s, the address’s, or the time zone’s; region and city are the proxy’s, where it names their country', async () => {
  const from = (address: string, country = '') => ({ 'X-Forwarded-For': address, 'CF-IPCountry': country })
  const timezone = 'Europe/Vienna'
  // The bytes of UTF-8, as fetch sends them.
  const city = Buffer.from('Köln').toString('latin1')
  const area = { 'CF-Region-Code': 'NW', 'CF-Region': 'Westphalia', 'CF-IPCity': city }
  const unnamed = { region: '', region_name: '', city: '' }
  const cases: (readonly [event: object, headers: Record<string, string>, place: object])[] = [
    [{ timezone }, from('91.12.0.1', 'fr'), { country: 'FR' }],
    [{ timezone }, from('91.12.0.1', 'XX'), { country: 'DE' }],
    [{ timezone }, from('2a02:8070::1'), { country: 'DE' }],
    [{ ip: '200.160.2.3' }, { ...from('91.12.0.1', 'FR'), ...area }, { country: 'BR', ...unnamed }],
    [{ timezone }, {}, { country: 'AT' }],
    [{ timezone: 'UTC' }, {}, { country: '' }],
    [
      {},
      { ...from('91.12.0.1', 'DE'), ...area },
      { country: 'DE', region: 'DE-NW', region_name: 'Westphalia', city: 'Köln' },
    ],
    [{}, { ...from('91.12.0.1'), ...area }, { country: 'DE', ...unnamed }],
  ]
  const rows = await Promise.all(cases.map(([event, headers]) => rowOf(event, headers)))
  expect(rows).toMatchObject(cases.map(([, , place]) => place))
})

it('a click on a short link has the country of the address that it came from', async () => {
  const link = await makeLink(stores, ingest.workspaceId, null)
  const url = `http://127.0.0.1:${ingest.port}/l/${link.attribution_key}`
  const agent = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Firefox/140.0'
  const headers = { 'X-Forwarded-For': '91.12.0.1', 'User-Agent': agent }
  expect((await fetch(url, { redirect: 'manual', headers })).status).toBe(302)
  await ingest.shipped()
  const sql = 'SELECT country FROM link_clicks WHERE link_id = {id:UInt32}'
  expect(await stores.ch.query(sql, { id: link.id })).toEqual([{ country: 'DE' }])
})

it('a database of countries that can’t be used ends the start', async () => {
  await ingest.stop()
  await expect(start({ COUNTRY_DATABASE: '/nowhere/x.mmdb' })).rejects.toThrow(
    /COUNTRY_DATABASE can't be used: ENOENT.*x\.mmdb/,
  )
})
