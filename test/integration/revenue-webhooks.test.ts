/** Connections to payment providers, and what is signed by them. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Environment, Paddle } from '@paddle/paddle-node-sdk'
import { describe, expect, test } from 'vitest'
import { routeRevenue } from '../../api/revenue/receive.ts'
import { systemClock } from '../../runtime/clock.ts'
import { makeSecretBox, revenueSecretsPurpose } from '../../runtime/crypto/secret-box.ts'
import type { RequestHead } from '../../runtime/http/head.ts'
import type { HttpRequest, Route } from '../../runtime/http/server.ts'
import { makeLog } from '../../runtime/log.ts'
import { revenueBodyBytesMax } from '../../schemas/limits/revenue-limits.ts'
import { revenueProviders } from '../../schemas/revenue.ts'
import { setUpApi, testApiHost } from '../support/api.ts'
import { runSvc, svcOn } from '../support/command-line.ts'
import { asking } from '../support/publishing.ts'
import { type Connected, connectProvider, readLedger, sendEvent, signatureOf } from '../support/revenue.ts'
import { setUpFolder } from '../support/test-folder.ts'

const { stores, api, mine } = setUpApi()
const folder = setUpFolder()
const ask = (method: string, path: string) => asking(api, () => mine.apiKey)(method, path)

const customPayment = {
  id: 'order-1',
  type: 'payment',
  value_cents: 5_000,
  currency: 'USD',
  occurred_at: '2025-11-01T10:00:00Z',
}
const ledger = () => readLedger(stores, mine.workspaceId)

describe('a signature', () => {
  const events = {
    stripe: { type: 'charge.succeeded', created: 1, data: { object: {} } },
    paddle: { event_type: 'subscription.created' },
    lemonsqueezy: { meta: { event_name: 'subscription_created' } },
    custom: customPayment,
  }

  async function post(connected: Connected, body: string, headers: Record<string, string>) {
    const response = await api.ask(connected.url.replace(testApiHost, ''), { method: 'POST', body, headers })
    return [response.status, await response.json()]
  }
  const refused = [401, { detail: 'Invalid signature' }]

  test.each(revenueProviders)(
    'of %s by another secret, of another body or none is refused, and nothing is stored',
    async (provider) => {
      const connected = await connectProvider(stores, mine.workspaceId, provider)
      const other = await connectProvider(stores, mine.workspaceId, provider)
      const body = JSON.stringify(events[provider])
      expect(await post(connected, body, signatureOf(provider, other.secret, body))).toEqual(refused)
      expect(await post(connected, `${body} `, signatureOf(provider, connected.secret, body))).toEqual(refused)
      expect(await post(connected, body, {})).toEqual(refused)
      expect(await ledger()).toEqual([])
    },
  )

  test.each(['stripe', 'paddle', 'custom'] as const)(
    'of %s is taken for 300 seconds, before and after',
    async (provider) => {
      const connected = await connectProvider(stores, mine.workspaceId, provider)
      const body = provider === 'stripe' ? '{"type":"ping"}' : JSON.stringify(events[provider])
      for (const [seconds, status] of [
        [-290, 200],
        [290, 200],
        [-310, 401],
        [310, 401],
      ] as const) {
        const signed = signatureOf(provider, connected.secret, body, Date.now() + seconds * 1000)
        expect([seconds, (await post(connected, body, signed))[0]]).toEqual([seconds, status])
      }
    },
  )

  test("of Paddle is what Paddle's own package takes", async () => {
    const body = JSON.stringify(events.paddle)
    const { 'Paddle-Signature': signature } = signatureOf('paddle', 'secret-of-paddle', body)
    const paddle = new Paddle('none', { environment: Environment.sandbox })
    expect(await paddle.webhooks.isSignatureValid(body, 'secret-of-paddle', signature!)).toBe(true)
  })

  test('of a secret that was replaced, or of a connection that is gone, is refused', async () => {
    const connected = await connectProvider(stores, mine.workspaceId, 'custom')
    const again = ['revenue', 'connect', '--workspace', String(mine.workspaceId), '--provider', 'custom']
    const { json } = await svcOn(stores, ...again, '--connection', String(connected.connection_id))
    expect(json).toMatchObject({ connection_id: connected.connection_id, url: connected.url })
    expect((await sendEvent(api, 'custom', connected, customPayment)).status).toBe(401)
    expect((await sendEvent(api, 'custom', json, customPayment)).status).toBe(200)
    expect((await svcOn(stores, 'revenue', 'disconnect', String(connected.connection_id))).code).toBe(0)
    expect(await sendEvent(api, 'custom', json, customPayment)).toEqual({
      status: 404,
      body: { detail: 'Revenue connection not found' },
    })
  })

  test('of a connection whose secret is of another SECRET_KEY can’t be read, and the reason names the remedy', async () => {
    const connected = await connectProvider(stores, mine.workspaceId, 'custom')
    const body = JSON.stringify(customPayment)
    const head = { method: 'POST', path: connected.url.replace(testApiHost, ''), query: '' } as RequestHead
    const signed = Object.entries(signatureOf('custom', connected.secret, body))
    const headers = new Map(signed.map(([name, value]) => [name.toLowerCase(), value]))
    const revenueBox = makeSecretBox('of another installation', revenueSecretsPurpose)
    const receiver = { pg: stores.pg, revenueBox, clock: systemClock, log: makeLog('test', 'silent') }
    const { handle } = routeRevenue(head, receiver) as Route
    const read = handle({ ...head, headers, body: Buffer.from(body) } as unknown as HttpRequest)
    await expect(read).rejects.toThrow('another SECRET_KEY: `svc revenue connect --connection ID` replaces it')
  })

  test('is asked for before a body of any length, and no body is longer than a mebibyte', async () => {
    const connected = await connectProvider(stores, mine.workspaceId, 'custom')
    expect((await post(connected, ' '.repeat(100_000), {}))[0]).toBe(401)
    const long = ' '.repeat(revenueBodyBytesMax + 1)
    expect((await post(connected, long, signatureOf('custom', connected.secret, long)))[0]).toBe(413)
  })
})

describe('a connection', () => {
  test('shows its secret once, and keeps it encrypted', async () => {
    const connected = await connectProvider(stores, mine.workspaceId, 'stripe')
    expect(connected).toEqual({
      connection_id: expect.any(Number),
      provider: 'stripe',
      url: `${testApiHost}/api/v1/growth/revenue/stripe/${connected.connection_id}`,
      secret: expect.stringMatching(/^whsec_/),
    })
    const [kept] = await stores.pg.query<{ secret: Buffer }>('SELECT secret FROM revenue_connections WHERE id = $1', [
      connected.connection_id,
    ])
    expect(kept!.secret.includes(connected.secret)).toBe(false)
    const { json } = await svcOn(stores, 'revenue', 'list', '--workspace', String(mine.workspaceId))
    expect(json).toEqual([
      { connection_id: connected.connection_id, provider: 'stripe', created_at: expect.stringMatching(/Z$/) },
    ])
    expect(JSON.stringify((await ask('GET', '/v1/audit-log')).body)).not.toContain(connected.secret)
  })

  test('has its address at the running product, whose secret encrypts it, where the environment names none', async () => {
    const running = { base_url: 'http://localhost:8080/v1', database_url: stores.databaseUrl }
    writeFileSync(join(folder, 'dev.json'), JSON.stringify(running))
    writeFileSync(join(folder, 'secret.key'), stores.secretKey)
    const words = ['revenue', 'connect', '--workspace', String(mine.workspaceId), '--provider', 'custom']
    expect((await runSvc(words, { DATA_DIR: folder })).out).toContain('unique over all custom connections')
    const { out } = await runSvc([...words, '--json'], { DATA_DIR: folder })
    const connected = JSON.parse(out) as Connected
    const path = `/api/v1/growth/revenue/custom/${connected.connection_id}`
    expect(connected.url).toBe(`http://localhost:8080${path}`)
    const sent = await sendEvent(api, 'custom', { ...connected, url: `${testApiHost}${path}` }, customPayment)
    expect(sent.status).toBe(200)
  })

  test('takes POST alone, and is of one provider', async () => {
    const { url } = await connectProvider(stores, mine.workspaceId, 'stripe')
    const path = url.replace(testApiHost, '')
    expect((await api.ask(path)).status).toBe(405)
    const slashed = await api.ask(`${path}/`, { method: 'POST', body: '{}', redirect: 'manual' })
    expect([slashed.status, slashed.headers.get('location')]).toEqual([307, path])
    const body = '{}'
    const headers = signatureOf('lemonsqueezy', 'any-secret', body)
    expect((await api.ask(path.replace('stripe', 'lemonsqueezy'), { method: 'POST', body, headers })).status).toBe(404)
    expect((await api.ask(path.replace('stripe', 'other'), { method: 'POST', body })).status).toBe(404)
  })
})

test('a text that can not be stored refuses an event only as its id', async () => {
  const connected = await connectProvider(stores, mine.workspaceId, 'custom')
  const odd = { ...customPayment, note: '\ud83d', email: 'a\0@example.com', anonymous_id: '\ud83d' }
  expect((await sendEvent(api, 'custom', connected, odd)).status).toBe(200)
  expect(await ledger()).toMatchObject([{ payment: 'order-1', value_cents: 5_000, currency: 'USD' }])
  for (const [id, type] of [
    ['\0', 'value_error'],
    ['\ud83d', 'string_unicode'],
  ] as const) {
    const { status, body } = await sendEvent(api, 'custom', connected, { ...customPayment, id })
    expect([status, body.detail]).toMatchObject([422, [{ type, loc: ['body', 'id'] }]])
  }
})
