import { describe, expect, it } from 'vitest'
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

  it('counts a repeated client_event_id once and answers the first one’s id, also where a hundred come at once', async () => {
    const repeat = () => ingest.post('/track', event({ client_event_id: 'once' }))
    const answers = await Promise.all(Array.from({ length: 100 }, repeat))
    const ids = new Set(answers.map(({ body }) => body.event_id))
    expect(answers.every(({ status }) => status === 202)).toBe(true)
    expect((await repeat()).body).toEqual({ accepted: true, event_id: answers[0]!.body.event_id, deduplicated: true })
    expect(ids.size).toBe(1)
    expect((await stored()).filter(({ client_event_id }) => client_event_id === 'once')).toHaveLength(1)
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
    const agent = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)'
    const crawled = event({ event_name: 'crawled', url: 'https://example.com/crawled' })
    expect((await ingest.post('/track', crawled, { 'User-Agent': agent })).status).toBe(202)
    expect((await stored()).filter(({ event_name }) => event_name === 'crawled')).toEqual([])
    expect(await stores.ch.query("SELECT path FROM bot_visits WHERE path = '/crawled'")).toHaveLength(1)
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

  it('survives garbage; two hosts and a compressed body are refused, and a preflight is answered', async () => {
    for (const garbage of ['\x16\x03\x01garbage\r\n\r\n', 'GET / HTTP/9.9\r\n\r\n']) {
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
