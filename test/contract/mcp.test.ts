/** The protocol at `POST /mcp`, cell by cell: which message, in which envelope, gets which status and which code. */
import { describe, expect, test } from 'vitest'
import { makeRateLimiter } from '../../api/guards/rate-limit.ts'
import { listPosts } from '../../api/operations/posts/list-posts.ts'
import { tryLockIdempotencyKey } from '../../postgres/tables/workspaces/idempotency.ts'
import { systemClock } from '../../runtime/clock.ts'
import { StoreUnavailable } from '../../runtime/store-error.ts'
import { makeSecretKey } from '../../schemas/keys.ts'
import { apiBodyBytesMax } from '../../schemas/limits/api-limits.ts'
import { makeWorkspace, setUpApi, startApi, testApiHost } from '../support/api.ts'
import { callTool, mcpHeaders, post, type RpcAnswer, request } from '../support/mcp.ts'
import { exchange } from '../support/raw-http.ts'

const { stores, api, mine } = setUpApi()

const hello = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'curl', version: '1' },
}
const ping = { jsonrpc: '2.0', id: 1, method: 'ping' }

async function shown(response: Response) {
  const text = await response.text()
  return { status: response.status, body: text === '' ? undefined : (JSON.parse(text) as RpcAnswer) }
}

describe('initialize', () => {
  test('answers with the version, and how to use the tools that are there', async () => {
    const { result } = await request(api, mine.apiKey, 'initialize', hello)
    expect(result).toEqual({
      protocolVersion: '2025-11-25',
      capabilities: { tools: {} },
      serverInfo: { name: 'svc', title: expect.any(String), version: '1.0.0' },
      instructions: expect.stringContaining('idempotency_key'),
    })
    const listed = (await request(api, mine.apiKey, 'tools/list')).result!['tools'] as { name: string }[]
    const named = String(result!['instructions']).match(/svc\.\w+/g)!
    expect(named.length).toBeGreaterThan(3)
    for (const name of named) expect(listed.map((tool) => tool.name)).toContain(name)
  })

  test('answers 2025-11-25 to a client of any other version', async () => {
    for (const protocolVersion of ['2025-06-18', '2024-11-05', 'tomorrow']) {
      const { result } = await request(api, mine.apiKey, 'initialize', { ...hello, protocolVersion })
      expect(result).toMatchObject({ protocolVersion: '2025-11-25' })
    }
  })

  test.each([
    ['no params', {}],
    ['a version that is no text', { ...hello, protocolVersion: 20251125 }],
    ['capabilities that are no object', { ...hello, capabilities: [] }],
    ['no clientInfo', { ...hello, clientInfo: undefined }],
    ['a client without a version', { ...hello, clientInfo: { name: 'x' } }],
  ])('is -32602 with %s', async (_, params) => {
    expect(await request(api, mine.apiKey, 'initialize', params)).toMatchObject({ id: 1, error: { code: -32602 } })
  })
})

test('bytes that are no UTF-8 are -32700', async () => {
  const body = Buffer.from('{"jsonrpc":"2.0","id":1,"method":"ping\xff"}', 'latin1')
  const response = await api.ask('/mcp', { method: 'POST', headers: mcpHeaders(mine.apiKey), body })
  expect(await shown(response)).toMatchObject({ status: 400, body: { id: null, error: { code: -32700 } } })
})

test.each([
  ['a result', { jsonrpc: '2.0', id: 1, result: {} }],
  ['an error', { jsonrpc: '2.0', id: 1, error: { code: 1, message: 'x' } }],
])('%s is 202 without a body', async (_, body) => {
  expect(await shown(await post(api, mine.apiKey, body))).toEqual({ status: 202, body: undefined })
})

test('the contract’s four headers are enough', async () => {
  const body = JSON.stringify({ ...ping, method: 'tools/call', params: { name: 'svc.get_workspace' } })
  const lines = Object.entries(mcpHeaders(mine.apiKey)).map(([name, value]) => `${name}: ${value}`)
  const head = ['POST /mcp HTTP/1.1', 'Host: x', ...lines, `Content-Length: ${Buffer.byteLength(body)}`, '', '']
  const { statuses, text } = await exchange(api.port, [head.join('\r\n') + body], { until: '}}}' })
  expect(statuses).toEqual([200])
  expect(text).toContain(`"structuredContent":{"id":${mine.workspaceId},`)
})

test('a call without an id is not carried out', async () => {
  const params = { name: 'svc.create_post', arguments: { title: 'No', base_caption: 'No.' } }
  expect((await post(api, mine.apiKey, { jsonrpc: '2.0', method: 'tools/call', params })).status).toBe(202)
  await callTool(api, mine.apiKey, 'svc.create_post', { title: 'Yes', base_caption: 'Yes.' })
  const { result } = await callTool(api, mine.apiKey, 'svc.list_posts')
  expect(result!.structuredContent).toMatchObject({ items: [{ title: 'Yes' }] })
})

describe('the request as a whole', () => {
  test.each(['GET', 'DELETE', 'PUT', 'PATCH', 'OPTIONS', 'HEAD'])('%s is 405', async (method) => {
    const response = await api.ask('/mcp', { method, headers: { Accept: 'text/event-stream' } })
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST'])
  })

  test('a tool of a toolset is there for the address that names it, and unknown elsewhere; an unknown toolset is 400', async () => {
    const call = { jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'svc.list_goals' } }
    const at = async (toolset?: string) => shown(await post(api, mine.apiKey, call, {}, toolset))
    expect(await at()).toMatchObject({ status: 200, body: { error: { code: -32602 } } })
    expect(await at('links')).toMatchObject({ status: 200, body: { error: { code: -32602 } } })
    expect(await at('links,analytics')).toMatchObject({
      status: 200,
      body: { result: { structuredContent: { items: [] } } },
    })
    expect(await at('goals')).toEqual({
      status: 400,
      body: {
        jsonrpc: '2.0',
        id: 7,
        error: { code: -32600, message: expect.stringContaining('Unknown toolset: goals') },
      },
    })
  })

  test('a slash at the end is redirected', async () => {
    const response = await api.ask('/mcp/', { method: 'POST', headers: mcpHeaders(mine.apiKey), body: '{}' })
    expect([response.status, response.headers.get('location')]).toEqual([307, '/mcp'])
  })

  test.each(['application/json', 'application/json, text/event-stream', '*/*'])(
    'Accept: %s is enough',
    async (Accept) => {
      expect((await post(api, mine.apiKey, ping, { Accept })).status).toBe(200)
    },
  )

  test('needs no protocol version, and refuses others than 2025-11-25 with 400', async () => {
    const { 'MCP-Protocol-Version': _, ...headers } = mcpHeaders(mine.apiKey)
    const body = JSON.stringify(ping)
    expect((await api.ask('/mcp', { method: 'POST', headers, body })).status).toBe(200)
    for (const version of ['2025-06-18', '2026-01-01', 'x', '']) {
      const refused = await shown(await post(api, mine.apiKey, ping, { 'MCP-Protocol-Version': version }))
      expect(refused).toMatchObject({ status: 400, body: { id: null, error: { code: -32600 } } })
    }
  })

  test.each(['text/plain', 'application/x-www-form-urlencoded'])(
    'a body that is said to be %s is 415',
    async (type) => {
      const response = await post(api, mine.apiKey, ping, { 'Content-Type': type })
      expect(response.status).toBe(415)
      expect(await response.json()).toEqual({ detail: 'Content-Type must be application/json' })
    },
  )

  test('a body beyond the limit is 413', async () => {
    const head = `POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: ${apiBodyBytesMax + 1}\r\n\r\n`
    expect((await exchange(api.port, [head], { until: '}' })).statuses).toEqual([413])
  })

  test.each(['http://evil.example', 'null', 'https://api.example.com.evil.example', 'http://api.example.com'])(
    'Origin: %s is 403, also without a key',
    async (Origin) => {
      for (const key of [mine.apiKey, 'x']) {
        const response = await post(api, key, ping, { Origin })
        expect([response.status, await response.json()]).toEqual([403, { detail: 'Origin not allowed' }])
      }
    },
  )

  test('our own origin is trusted; at home on this machine, its other names', async () => {
    expect((await post(api, mine.apiKey, ping, { Origin: testApiHost })).status).toBe(200)
    expect((await post(api, mine.apiKey, ping, { Origin: 'http://localhost:80' })).status).toBe(403)
    const local = await startApi(stores, { apiHost: 'http://localhost:8080' })
    const asked = async (Origin: string) => (await post(local, mine.apiKey, ping, { Origin })).status
    expect(
      await Promise.all(['http://localhost:8080', 'http://127.0.0.1:8080', 'http://[::1]:8080'].map(asked)),
    ).toEqual([200, 200, 200])
    expect(
      await Promise.all(['http://localhost:8081', 'https://localhost:8080', 'http://localhost:8080/x'].map(asked)),
    ).toEqual([403, 403, 403])
    await local.close()
  })

  test('a bad key is 401, whatever the body', async () => {
    for (const body of [ping, '{', { ...ping, method: 'tools/list' }]) {
      const response = await post(api, makeSecretKey(), body)
      expect(response.status).toBe(401)
      expect(response.headers.get('www-authenticate')).toMatch(/^Bearer resource_metadata="https:/)
      expect(await response.json()).toEqual({ detail: 'Not authenticated' })
    }
    const long = `POST /mcp HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer x\r\nContent-Length: 900000\r\n\r\n${'x'.repeat(9000)}`
    expect((await exchange(api.port, [long, 'x'.repeat(891_000)], { until: '}' })).statuses).toEqual([401])
  })

  test('no plan is 402, no access to the workspace 403', async () => {
    const unpaid = await makeWorkspace(stores, { plan: null })
    const left = await makeWorkspace(stores)
    await stores.pg.query('DELETE FROM members WHERE workspace_id = $1', [left.workspaceId])
    expect((await post(api, unpaid.apiKey, ping)).status).toBe(402)
    const denied = await post(api, left.apiKey, ping)
    expect([denied.status, await denied.json()]).toEqual([403, { detail: 'Workspace access denied' }])
  })

  test('counts with REST against one limit, and is 429 beyond it', async () => {
    const limits = { starter: 3, growth: 3, scale: 3 }
    const few = await startApi(stores, {
      rateLimiter: makeRateLimiter({ redis: undefined, limits, clock: systemClock }),
    })
    expect((await few.ask('/v1/workspace', { key: mine.apiKey })).headers.get('x-ratelimit-remaining')).toBe('2')
    expect((await post(few, mine.apiKey, ping)).headers.get('x-ratelimit-remaining')).toBe('1')
    expect((await post(few, mine.apiKey, '{')).headers.get('x-ratelimit-remaining')).toBe('0')
    const refused = await post(few, mine.apiKey, ping)
    expect([refused.status, await refused.json()]).toEqual([429, { detail: 'Rate limit exceeded' }])
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    await few.close()
  })

  test('its answers are kept by no cache', async () => {
    for (const body of [ping, '{', { jsonrpc: '2.0', method: 'x' }]) {
      expect((await post(api, mine.apiKey, body)).headers.get('cache-control')).toBe('no-store')
    }
  })
})

describe('a call', () => {
  test('whose key is in use is -32009 as well', async () => {
    await stores.pg.transaction(async (tx) => {
      await tryLockIdempotencyKey(tx, mine.workspaceId, 'held')
      const args = { title: 'Held', base_caption: 'Held.', idempotency_key: 'held' }
      const { error } = await callTool(api, mine.apiKey, 'svc.create_post', args)
      expect(error).toEqual({ code: -32009, message: 'A request with this Idempotency-Key is still in progress' })
    })
  })

  test.each(['', 'é', 'x'.repeat(256), 5])('with the idempotency_key %j is a result to mend', async (key) => {
    const args = { title: 'A', base_caption: 'B', idempotency_key: key }
    const { result } = await callTool(api, mine.apiKey, 'svc.create_post', args)
    expect(result?.isError).toBe(true)
    expect(JSON.parse(result!.content[0]!.text)).toMatchObject({ detail: [{ loc: ['body', 'idempotency_key'] }] })
  })

  test('may name what it leaves out by null, and have no members as PHP writes none', async () => {
    const none = { status: null, limit: null, before_id: null, scheduled_from: null }
    const { result } = await callTool(api, mine.apiKey, 'svc.list_posts', none)
    expect(result?.structuredContent).toEqual({ items: [] })
    for (const args of [null, []]) {
      const called = await request(api, mine.apiKey, 'tools/call', { name: 'svc.list_posts', arguments: args })
      expect(called.result).toMatchObject({ structuredContent: { items: [] } })
      expect((await request(api, mine.apiKey, 'tools/list', args)).result).toHaveProperty('tools')
    }
    const made = { title: 'A', base_caption: 'B', idempotency_key: null }
    expect((await callTool(api, mine.apiKey, 'svc.create_post', made)).result?.isError).toBeUndefined()
  })

  test('of a tool that only reads ignores what it doesn’t know', async () => {
    const { result } = await callTool(api, mine.apiKey, 'svc.list_posts', { idempotency_key: 5, nothing: 1 })
    expect(result?.structuredContent).toEqual({ items: [] })
  })

  test('of texts that can’t be stored is a result to mend, in arguments of the body and of the query', async () => {
    const cases = [
      ['svc.create_post', { title: 'a\0', base_caption: 'b' }, ['body', 'title'], 'value_error'],
      ['svc.create_post', { title: '\ud800', base_caption: 'b' }, ['body', 'title'], 'string_unicode'],
      ['svc.analytics_overview', { start: '\ud800' }, ['query', 'start'], 'string_unicode'],
      ['svc.analytics_overview', { start: '\0' }, ['query', 'start'], 'value_error'],
    ] as const
    for (const [name, args, loc, type] of cases) {
      const { result } = await callTool(api, mine.apiKey, name, args)
      expect(result?.isError).toBe(true)
      expect(JSON.parse(result!.content[0]!.text)).toMatchObject({ detail: [{ loc, type }] })
    }
  })

  test('while a store is away is HTTP 503 with Retry-After, and a bug HTTP 500; both are -32603', async () => {
    const failing = (error: Error) => ({ ...listPosts, handle: () => Promise.reject(error) }) as never
    for (const [error, status, retry] of [
      [new StoreUnavailable('postgres', 'secret'), 503, true],
      [new Error('secret'), 500, false],
    ] as const) {
      const broken = await startApi(stores, { operations: [failing(error)] })
      const answer = await callTool(broken, mine.apiKey, 'svc.list_posts')
      expect([answer.status, answer.error?.code, answer.headers.has('retry-after')]).toEqual([status, -32603, retry])
      expect(answer.error?.message).not.toContain('secret')
      await broken.close()
    }
  })
})
