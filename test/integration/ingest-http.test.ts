import { describe, expect, it } from 'vitest'
import { sleep } from '../../runtime/retry.ts'
import { setUpIngest } from '../support/ingest.ts'
import { exchange } from '../support/raw-http.ts'
import { setUpStores } from '../support/stores.ts'

const stores = setUpStores()
const ingest = setUpIngest(stores)

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

  it('counts a repeated client_event_id once and answers the first one’s id', async () => {
    const first = await ingest.post('/track', event({ client_event_id: 'once' }))
    const second = await ingest.post('/track', event({ client_event_id: 'once' }))
    expect(second.body).toEqual({ accepted: true, event_id: first.body.event_id, deduplicated: true })
    expect((await stored()).filter(({ client_event_id }) => client_event_id === 'once')).toHaveLength(1)
  })

  it('counts a hundred equal ids sent at once once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => ingest.post('/track', event({ client_event_id: 'herd' }))),
    )
    expect(new Set(answers.map(({ body }) => body.event_id)).size).toBe(1)
    expect(answers.every(({ status }) => status === 202)).toBe(true)
    expect((await stored()).filter(({ client_event_id }) => client_event_id === 'herd')).toHaveLength(1)
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

  it('keeps crawlers’ events as bot visits', async () => {
    const { status } = await ingest.post(
      '/track',
      event({ event_name: 'crawled', url: 'https://example.com/crawled' }),
      {
        'User-Agent': 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
      },
    )
    expect(status).toBe(202)
    expect((await stored()).filter(({ event_name }) => event_name === 'crawled')).toEqual([])
    expect(await stores.ch.query("SELECT path FROM bot_visits WHERE path = '/crawled'")).toHaveLength(1)
  })

  it('takes any content type, as beacons send it', async () => {
    for (const type of ['text/plain;charset=UTF-8', 'application/x-www-form-urlencoded', 'application/json']) {
      expect((await ingest.post('/track', event(), { 'Content-Type': type })).status).toBe(202)
    }
  })

  it('keeps a request id that is sent', async () => {
    const { headers } = await ingest.post('/track', event(), { 'X-Request-Id': 'my-id.1' })
    expect(headers.get('x-request-id')).toBe('my-id.1')
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

describe('bad input', () => {
  const cases: [name: string, body: () => unknown, status: number, detail: unknown][] = [
    ['no body', () => '', 422, [{ type: 'missing', loc: ['body'] }]],
    ['broken JSON', () => '{"a":', 422, [{ type: 'json_invalid', loc: ['body', 5] }]],
    [
      'bytes that are no UTF-8',
      () => Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
      400,
      'There was an error parsing the body',
    ],
    ['an unknown key', () => event({ tracking_key: 'svc_pk_000000000000000000000000' }), 401, 'Unknown tracking key'],
    ['a secret key', () => event({ tracking_key: `svc_sk_${'0'.repeat(38)}` }), 401, 'Unknown tracking key'],
    [
      'value_cents',
      () => event({ value_cents: 100 }),
      422,
      [{ type: 'extra_forbidden', loc: ['body', 'value_cents'] }],
    ],
    [
      'properties too deep',
      () => event({ properties: { a: { b: { c: { d: { e: { f: 1 } } } } } } }),
      422,
      [{ loc: ['body', 'properties', 'a', 'b', 'c', 'd', 'e'] }],
    ],
    ['an old event', () => event({ occurred_at: '1970-01-01T00:00:00Z' }), 422, [{ loc: ['body', 'occurred_at'] }]],
  ]

  it.each(cases)('%s has a clear answer and stores nothing', async (_name, body, status, detail) => {
    const before = await countRows()
    const answer = await ingest.post('/track', body())
    expect(answer.status).toBe(status)
    expect(answer.body).toMatchObject({ detail })
    expect(await countRows()).toBe(before)
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

  it('refuses large bodies by their length, lying lengths and bodies without end', async () => {
    const head = (more: string) => `POST /api/v1/growth/track HTTP/1.1\r\nHost: a\r\n${more}\r\n`
    const large = await exchange(ingest.port, [head('Content-Length: 10485760\r\n'), 'x'.repeat(1000)], {
      until: '}',
      waitMs: 5000,
    })
    expect(large.statuses).toEqual([413])
    const chunked = await exchange(
      ingest.port,
      [
        head('Transfer-Encoding: chunked\r\n'),
        ...Array.from({ length: 20 }, () => `2000\r\n${'x'.repeat(0x2000)}\r\n`),
      ],
      { until: '}' },
    )
    expect(chunked.statuses).toEqual([413])
    for (const lengths of [
      'Content-Length: 5\r\nContent-Length: 50\r\n',
      'Content-Length: x\r\n',
      'Content-Length: 5\r\nTransfer-Encoding: chunked\r\n',
    ]) {
      const body = 'abcdePOST /api/v1/growth/track HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}'
      const { statuses, closedAfterMs } = await exchange(ingest.port, [head(lengths) + body])
      expect(statuses).toEqual([400])
      expect(closedAfterMs).toBeDefined()
    }
  })

  it('holds no more than 64 MiB of bodies that are still arriving, and lets go of them with their senders', async () => {
    const bytes = 2 ** 20 - 10
    const head = `POST /api/v1/growth/track/batch HTTP/1.1\r\nHost: a\r\nContent-Length: ${bytes + 10}\r\n\r\n`
    const begin = () => exchange(ingest.port, [head, Buffer.alloc(bytes, 'x')], { until: '}', waitMs: 4_000 })
    const answers = await Promise.all(Array.from({ length: 80 }, begin))
    const refused = answers.filter(({ statuses }) => statuses.length > 0)
    expect(refused.length).toBeGreaterThan(10)
    for (const { text } of refused) {
      expect(text).toMatch(/^HTTP\/1.1 503 [\s\S]*Retry-After: 5\r\n[\s\S]*Too many request bodies are arriving/)
    }
    // The others have hung up by now: all of the room is there again.
    await sleep(200)
    const again = await Promise.all(Array.from({ length: 60 }, begin))
    expect(again.flatMap(({ statuses }) => statuses)).toEqual([])
    await sleep(200)
    expect((await ingest.post('/track', event())).status).toBe(202)
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
    expect(await ask('GET', `${root}/track`)).toEqual([405, 'OPTIONS, POST'])
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

  it('survives garbage, and methods and paths that aren’t there', async () => {
    await exchange(ingest.port, ['\x16\x03\x01garbage\r\n\r\n'], { waitMs: 500 })
    await exchange(ingest.port, ['GET / HTTP/9.9\r\n\r\n'], { waitMs: 500 })
    const get = await fetch(`${ingest.url}/track`)
    expect(get.status).toBe(405)
    expect(get.headers.get('allow')).toBe('OPTIONS, POST')
    expect((await fetch(`${ingest.url}/nothing`)).status).toBe(404)
    expect(
      (await fetch(`${ingest.url}/track`, { method: 'POST', body: '{}', headers: { 'Content-Encoding': 'gzip' } }))
        .status,
    ).toBe(415)
    expect((await fetch(`${ingest.url}/track/`, { method: 'POST', body: '{}', redirect: 'manual' })).status).toBe(307)
    const preflight = await fetch(`${ingest.url}/track`, { method: 'OPTIONS' })
    expect(preflight.status).toBe(204)
    expect(preflight.headers.get('access-control-max-age')).toBe('86400')
    expect((await ingest.post('/track', event())).status).toBe(202)
  })

  async function countRows(): Promise<number> {
    await sleep(50)
    const metrics = await (await fetch(`http://127.0.0.1:${ingest.port}/metrics`)).text()
    return [...metrics.matchAll(/^ingest_group_rows_total\{[^}]*\} (\d+)/gm)].reduce(
      (sum, [, count]) => sum + Number(count),
      0,
    )
  }
})
