/** The OpenAPI document: linted, and held to the operations. Live answers are held to it by answer-fault.ts. */
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { isFileOutput } from '../../api/operations/file-output.ts'
import { operations } from '../../api/operations/registry.ts'
import { tagDescriptions } from '../../api/transports/openapi-tags.ts'
import { projectFile } from '../../runtime/paths.ts'
import { postPlatformCaptionsMax } from '../../schemas/limits/api-limits.ts'
import { startApi, type TestApi, testApiHost } from '../support/api.ts'
import type { ApiDocument, ApiOperation } from '../support/api-requests.ts'
import { setUpStores } from '../support/stores.ts'

const stores = setUpStores()
let api: TestApi
let document: ApiDocument
beforeAll(async () => {
  api = await startApi(stores)
  document = (await (await api.ask('/v1/openapi.json')).json()) as ApiDocument
})
afterAll(() => api.close())

test('is made once, however often anybody asks for it', async () => {
  let made = 0
  const counted = {
    ...operations[0]!,
    get summary() {
      made++
      return 'Counted.'
    },
  }
  const counting = await startApi(stores, { operations: [counted] })
  // The list of tools reads it, too.
  made = 0
  for (let n = 0; n < 3; n++) expect((await counting.ask('/v1/openapi.json')).status).toBe(200)
  expect(made).toBe(1)
  await counting.close()
})

const operationAt = (method: string, path: string) => document.paths[path]![method.toLowerCase()]!

test('is served to anybody as JSON, by HEAD too, and nothing else is allowed there', async () => {
  const response = await api.ask('/v1/openapi.json')
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json'])
  expect((await api.ask('/v1/openapi.json', { method: 'HEAD' })).status).toBe(200)
  const refused = await api.ask('/v1/openapi.json', { method: 'POST' })
  expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
  expect((await api.ask('/v1/openapi.json/')).headers.get('location')).toBe('/v1/openapi.json')
})

test('is OpenAPI 3.1 of version 1.0.0 at the public root, by bearer key', () => {
  expect(document).toMatchObject({
    openapi: '3.1.0',
    info: { version: '1.0.0' },
    servers: [{ url: testApiHost }],
    components: { securitySchemes: { HTTPBearer: { type: 'http', scheme: 'bearer' } } },
  })
})

test('a list is named as several, whatever its noun ends in', () => {
  const named = ['/v1/audit-log', '/v1/webhooks'].map((path) => operationAt('GET', path).operationId)
  expect(named).toEqual(['list_audit_events', 'list_webhook_endpoints'])
  const inY = operations.filter(({ name }) => /y\./.test(name))
  expect(inY.map(({ http: { method, path } }) => operationAt(method, path).operationId)).toEqual([
    'person_journey',
    'list_replays',
    'get_replay',
    'list_webhook_deliveries',
    'redeliver_webhook_delivery',
  ])
})

test('bodies show how many members a dictionary may have', () => {
  const { properties } = document.components.schemas['PostCreate'] as { properties: Record<string, object> }
  expect(properties['platform_captions']).toMatchObject({ maxProperties: postPlatformCaptionsMax })
})

test.each(operations.map((operation) => [operation.name, operation] as const))(
  '%s is described: text, tag, security, parameters with their kinds, all refusals',
  (_, operation) => {
    const shown = operationAt(operation.http.method, operation.http.path)
    expect(shown.operationId).toMatch(/^[a-z]+(_[a-z]+)*$/)
    expect(shown.summary).toBe(operation.summary)
    expect(shown.description).toContain(operation.scope)
    expect(document.tags.map(({ name }) => name)).toContain(shown.tags[0])
    expect(shown.security).toEqual([{ HTTPBearer: [] }])
    const isMutation = operation.effect !== 'read'
    const named = Object.keys({ ...operation.input.path?.shape, ...operation.input.query?.shape })
    if (isMutation) named.push('Idempotency-Key')
    if (isFileOutput(operation.output)) named.push('Range', 'If-None-Match', 'If-Range')
    expect((shown.parameters ?? []).map(({ name }) => name)).toEqual(named)
    expect('409' in shown.responses).toBe(isMutation)
    for (const { schema } of shown.parameters ?? []) expect(Object.keys(schema)).toContain('type')
    const hasInput = named.length > 0 || operation.input.body !== undefined
    const statuses = ['200', '401', '402', '403', ...(hasInput ? ['422'] : []), '429', '500', '503']
    expect(Object.keys(shown.responses)).toEqual(expect.arrayContaining(statuses))
    expect('422' in shown.responses).toBe(hasInput)
    const { body, form } = operation.input
    expect('408' in shown.responses).toBe(body !== undefined || form !== undefined)
    if ('416' in shown.responses) expect(Object.keys(shown.responses['416']!.headers!)).toContain('Content-Range')
    for (const [status, { description, headers, content }] of Object.entries(shown.responses)) {
      expect(description).not.toBe('')
      expect(headers).toHaveProperty('X-Request-Id')
      if (Number(status) >= 400) {
        const name = status === '422' ? 'HTTPValidationError' : 'PublicApiError'
        expect(content!['application/json']!.schema).toEqual({ $ref: `#/components/schemas/${name}` })
      }
    }
    expect(Object.keys(shown.responses['401']!.headers!)).toContain('WWW-Authenticate')
    expect(Object.keys(shown.responses['503']!.headers!)).toContain('Retry-After')
    expect(Object.keys(shown.responses['429']!.headers!)).toEqual(
      expect.arrayContaining(['Retry-After', 'X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset']),
    )
  },
)

/** The linter's findings, by rule. It needs no network, and mustn't look for any. */
function lint(judged: ApiDocument): string[] {
  const file = join(stores.dataDir, 'openapi.json')
  // Hosts of examples are refused.
  writeFileSync(file, JSON.stringify({ ...judged, servers: [{ url: 'https://api.svc.test' }] }))
  const cli = projectFile('node_modules/@redocly/cli/bin/cli.js')
  const args = [cli, 'lint', file, '--config', projectFile('redocly.yaml'), '--format=json']
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
  const { stdout, stderr, status } = spawnSync(process.execPath, args, { encoding: 'utf8', env })
  const { problems } = JSON.parse(stdout || `{"problems":[{"ruleId":${JSON.stringify(stderr)}}]}`) as {
    problems: { ruleId: string; message: string; location: { pointer: string }[] }[]
  }
  expect(status === 0).toBe(problems.length === 0)
  return problems.map(({ ruleId, message, location }) => `${ruleId} ${location?.[0]?.pointer}: ${message}`)
}

test('the strict linter passes the document, and finds what is wrong with another', () => {
  expect(lint(document)).toEqual([])
  // One path is enough of it, and half the work.
  const bad = structuredClone({ ...document, paths: { '/v1/workspace': document.paths['/v1/workspace']! } })
  const { get } = bad.paths['/v1/workspace'] as { get: ApiOperation }
  const { headers, content } = get.responses['200']!
  Reflect.deleteProperty(get, 'operationId')
  Reflect.deleteProperty(headers!, 'X-RateLimit-Limit')
  Object.assign(content!['application/json']!, { example: { id: 'twelve' } })
  Object.assign(bad.components.schemas, { Unused: { type: 'object' } })
  const found = lint(bad).join('\n')
  for (const rule of [
    'operationId',
    'response-contains-header',
    'no-invalid-media-type-examples',
    'no-unused-components #/components/schemas/Unused',
  ])
    expect(found).toContain(rule)
})

test('every tag is described, in an order of our own', () => {
  const known = Object.keys(tagDescriptions)
  const places = document.tags.map(({ name }) => known.indexOf(name))
  expect(places).toEqual(places.toSorted((a, b) => a - b))
  expect(document.tags.every(({ description }) => description !== undefined)).toBe(true)
})

const ajv = new Ajv2020({ strict: false, allErrors: true, formats: { 'date-time': true, binary: true } })
/** By schema: all operations share those of refusals. */
const validators = new Map<string, ValidateFunction>()
function faultsOf(schema: object, value: unknown) {
  const key = JSON.stringify(schema)
  const validate = validators.get(key) ?? ajv.compile({ ...schema, components: document.components })
  validators.set(key, validate)
  return validate(value) ? null : validate.errors
}

const named = /^\{"(type":"array","items":\{")?\$ref":"#\/components\/schemas\/\w+"\}+$/

test.each(operations.map((operation) => [operation.name, operation] as const))(
  '%s has bodies and answers by name, with examples that are valid by their schemas',
  (_, { http }) => {
    const { parameters = [], requestBody, responses } = operationAt(http.method, http.path)
    for (const content of [requestBody?.content, responses['200']!.content]) {
      const schema = content?.['application/json']?.schema
      if (schema !== undefined) expect(JSON.stringify(schema)).toMatch(named)
    }
    const bodies = [requestBody, ...Object.values(responses)].flatMap((one) => one?.content?.['application/json'] ?? [])
    expect(bodies.length).toBeGreaterThan(1)
    // No post has the version that an example could name: sent as it stands, it would be refused.
    expect(requestBody?.content?.['application/json']?.example ?? {}).not.toHaveProperty('updated_at')
    for (const { schema, example, examples = {} } of bodies) {
      const values = example === undefined ? Object.values(examples).map(({ value }) => value) : [example]
      expect(values.length).toBeGreaterThan(0)
      for (const value of values) expect(faultsOf(schema, value)).toBeNull()
    }
    for (const { schema, example } of parameters)
      if (example !== undefined) expect(faultsOf(schema, example)).toBeNull()
  },
)
