import { beforeAll, describe, expect, test } from 'vitest'
import type { Operation } from '../../api/operations/define.ts'
import { operations } from '../../api/operations/registry.ts'
import { makeSecretKey } from '../../schemas/keys.ts'
import { apiBodyBytesMax } from '../../schemas/limits/api-limits.ts'
import { formOverheadBytesMax } from '../../schemas/limits/media-limits.ts'
import { answerFault } from '../support/answer-fault.ts'
import { makeKey, makeWorkspace, setUpApi, type TestWorkspace } from '../support/api.ts'
import {
  type ApiParameter,
  filledPath,
  neededTextsOf,
  objectNames,
  pathNames,
  shownOf,
} from '../support/api-requests.ts'
import { exchange } from '../support/raw-http.ts'

const { stores, api, mine } = setUpApi({ sharesWorkspace: true })

let left: TestWorkspace
let suspended: TestWorkspace
let unpaidKey: string
beforeAll(async () => {
  left = await makeWorkspace(stores)
  await stores.pg.query('DELETE FROM members WHERE workspace_id = $1', [left.workspaceId])
  suspended = await makeWorkspace(stores)
  await stores.pg.query('UPDATE workspaces SET suspended_at = now() WHERE id = $1', [suspended.workspaceId])
  const { workspaceId } = await makeWorkspace(stores, { plan: null })
  unpaidKey = (await makeKey(stores, workspaceId, { scopes: [] })).apiKey
})

/** Once for each path, which several operations share. */
const isFirstAt = (operation: Operation) =>
  operation === operations.find(({ http }) => http.path === operation.http.path)
const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const
const named = operations.map((operation): [string, Operation] => [operation.name, operation])

/** A path that leads to the operation, whether or not the object is there. */
const pathOf = ({ http }: Operation) => http.path.replace(/\{\w+\}/g, '1')
const ask = (operation: Operation, init: RequestInit & { key?: string; query?: string } = {}) =>
  api.ask(pathOf(operation) + (init.query ?? ''), { method: operation.http.method, ...init })

describe.each(named)('%s', (_, operation) => {
  const { method } = operation.http

  test('402 without a plan, before scopes and input are looked at', async () => {
    const response = await ask(operation, { key: unpaidKey, query: '?days=x' })
    expect(await answerFault(response.clone(), shownOf(operation))).toBeUndefined()
    expect([response.status, await response.text()]).toEqual([402, expect.stringContaining('plan')])
  })

  test('403 when the owner of the key left the workspace, or the workspace is suspended', async () => {
    for (const { apiKey } of [left, suspended]) {
      const response = await ask(operation, { key: apiKey, query: '?days=x' })
      expect(response.status).toBe(403)
      expect(await response.json()).toEqual({ detail: 'Workspace access denied' })
    }
  })

  if (isFirstAt(operation))
    test('405 for other methods, naming those there are, without a key', async () => {
      const here = operations.filter((other) => other.http.path === operation.http.path).map(({ http }) => http.method)
      const allowed = [...here, ...(here.includes('GET') ? ['HEAD'] : [])].sort().join(', ')
      for (const other of methods.filter((name) => !(here as string[]).includes(name))) {
        const response = await api.ask(pathOf(operation), { method: other })
        expect([other, response.status, response.headers.get('allow')]).toEqual([other, 405, allowed])
        expect(await response.json()).toEqual({ detail: 'Method Not Allowed' })
      }
    })

  test('307 to the path without its trailing slash, the query kept', async () => {
    for (const query of ['', '?days=7&x=%20']) {
      const response = await api.ask(`${pathOf(operation)}/${query}`, { method })
      expect(response.status).toBe(307)
      expect(response.headers.get('location')).toBe(pathOf(operation) + query)
    }
  })

  test('413 for a body beyond the limit, before the key is looked at', async () => {
    // The API of the tests takes films of 512 MiB.
    const limit = operation.input.form ? 512 * 2 ** 20 + formOverheadBytesMax : apiBodyBytesMax
    const request = `${method} ${pathOf(operation)} HTTP/1.1\r\nHost: x\r\nContent-Length: ${limit + 1}\r\n\r\n`
    const { statuses } = await exchange(api.port, [request], { until: '}' })
    expect(statuses).toEqual([413])
  })

  if (method === 'GET')
    test('HEAD answers as GET, without the body', async () => {
      for (const key of [mine.apiKey, makeSecretKey()]) {
        const get = await ask(operation, { key })
        const head = await ask(operation, { key, method: 'HEAD' })
        const body = await get.text()
        expect(await head.text()).toBe('')
        expect(head.status).toBe(get.status)
        expect(head.headers.get('content-type')).toBe(get.headers.get('content-type'))
        expect(Number(head.headers.get('content-length'))).toBeGreaterThan(0)
        expect(body).not.toBe('')
      }
    })
})

/** Every query parameter with bounds, as the OpenAPI document shows it to the world. */
const bounded = operations.flatMap((operation) =>
  (shownOf(operation).parameters ?? [])
    // One without bounds names what is read, and any number may: test/integration/people.test.ts.
    .filter(({ in: place, schema }) => place === 'query' && schema.type === 'integer' && schema.minimum !== undefined)
    .map((parameter) => [operation.name, parameter.name, operation, parameter] as const),
)

/** No integer is beyond what JSON carries exactly, which isn't said again of each. */
function boundsOf({ minimum, maximum = Number.MAX_SAFE_INTEGER }: ApiParameter['schema']) {
  return { minimum: minimum!, maximum }
}

describe.each(bounded)('%s ?%s', (_, name, operation, { schema }) => {
  // Where a good request names an object, by its query or path: one that isn't there is no fault of the parameter.
  const objects = objectNames(operation).filter((one) => !pathNames(operation).includes(one))
  const ids = Object.fromEntries(objects.map((one) => [one, 1]))
  const { [name]: _own, ...others } = { ...neededTextsOf(operation), ...ids }
  const besides = filledPath(operation, others).replace(/^[^?]*\??/, '&')
  const good = objectNames(operation).length > 0 ? 404 : 200

  const errorFor = async (value: string) => {
    const response = await ask(operation, {
      key: mine.apiKey,
      query: `?${name}=${encodeURIComponent(value)}${besides}`,
    })
    return { status: response.status, body: (await response.json()) as { detail: unknown } }
  }

  // Texts that are no integers: test/unit/lax.test.ts and test/unit/zod-errors.test.ts.
  test('422 beyond its bounds, in the words of the contract', async () => {
    const { minimum, maximum } = boundsOf(schema)
    const cases: [string, object][] = [
      [String(minimum - 1), { type: 'greater_than_equal', ctx: { ge: minimum } }],
      [String(maximum + 1), { type: 'less_than_equal', ctx: { le: maximum } }],
      ['9'.repeat(20), { type: 'less_than_equal', ctx: { le: maximum } }],
      ['x', { type: 'int_parsing', msg: 'Input should be a valid integer, unable to parse string as an integer' }],
    ]
    for (const [value, expected] of cases) {
      const { status, body } = await errorFor(value)
      expect([value, status]).toEqual([value, 422])
      expect(body.detail).toEqual([expect.objectContaining({ loc: ['query', name], input: value, ...expected })])
    }
  })

  test('takes its bounds, padded or as 1.0', async () => {
    const { minimum, maximum } = boundsOf(schema)
    for (const value of [String(minimum), String(maximum), ` ${minimum}.0 `]) {
      expect([value, (await errorFor(value)).status]).toEqual([value, good])
    }
  })
})

test('the last of several values of a parameter counts', async () => {
  const asked = async (query: string) => (await api.ask(`/v1/posts?${query}`, { key: mine.apiKey })).status
  expect([await asked('limit=x&limit=1'), await asked('limit=1&limit=x')]).toEqual([200, 422])
})

test('all errors of a query come together, in the order of the declaration', async () => {
  const response = await api.ask('/v1/analytics/overview?limit=0&hours=x&days=0&unknown=1', { key: mine.apiKey })
  const { detail } = (await response.json()) as { detail: { loc: string[] }[] }
  expect(detail.map(({ loc }) => loc[1])).toEqual(['days', 'hours', 'limit'])
})

describe('what is no route is 404, with or without a key', () => {
  test.each([
    '/',
    '/v1',
    '/v1/',
    '/v1/nothing',
    '/v1/nothing/',
    '/v1/workspace/1',
    '/V1/workspace',
    '//v1/workspace',
    '/v1/workspace%2F',
    '/v1/posts//schedule',
    '/v1/posts/1/2',
    '/v1/../v1/posts',
    '/v1/__proto__',
    '/v1/%ff',
    '/toString',
    '/api/v1/session',
  ])('%s', async (path) => {
    for (const key of [undefined, mine.apiKey]) {
      const { text } = await exchange(
        api.port,
        [`GET ${path} HTTP/1.1\r\nHost: x\r\n${key ? `Authorization: Bearer ${key}\r\n` : ''}\r\n`],
        { until: '}' },
      )
      expect(text).toMatch(/^HTTP\/1\.1 404 Not Found\r\nX-Request-Id: \S+\r\n/)
      expect(text.endsWith('{"detail":"Not Found"}')).toBe(true)
    }
  })
})

test.each(['bearer', 'BEARER', 'Bearer '])('the scheme of Authorization may be %j', async (scheme) => {
  const response = await api.ask('/v1/workspace', { headers: { Authorization: `${scheme} ${mine.apiKey}` } })
  expect(response.status).toBe(200)
})
