import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { operations } from '../../api/operations/registry.ts'
import { filterNames } from '../../schemas/reference/filter-names.ts'
import { type ApiOperation, apiDocument, resolved } from '../support/api-requests.ts'
import { tableOf } from '../support/docs.ts'

const tables = readFileSync(new URL('endpoint-tables.txt', import.meta.url), 'utf8')

/** Query parameters that our decisions add. */
const addedParameters: Readonly<Record<string, readonly string[]>> = {
  'GET /v1/media': ['before_id'],
  'GET /v1/posts': ['review', 'scheduled_from', 'scheduled_before', 'before_id'],
  'GET /v1/links': ['limit', 'before_id', 'status', 'tag', 'domain', 'q', 'include'],
  'GET /v1/analytics/overview': ['interval', 'compare', 'limit', ...filterNames, 'include'],
}

/** They may have a body, which names the version of the post that was read. */
const addedBodies = ['POST /v1/posts/{post_id}/unschedule', 'POST /v1/posts/{post_id}/archive']

function shownAt(endpoint: string): ApiOperation {
  const [method, path] = endpoint.split(' ') as [string, string]
  return apiDocument.paths[path]![method.toLowerCase()]!
}

const machine = tableOf(tables, '### Defined in the machine contract').map(
  ([method, path, parameters, body, success]) => ({
    endpoint: `${method} ${path}`,
    parameters: parameters!,
    body: body!,
    success: success!,
  }),
)
const guides = tableOf(tables, '### Named in the guides without a machine-contract entry')
  .map(([method, path, notes]) => ({ endpoint: `${method} ${path}`, notes: notes! }))
  .filter(({ endpoint }) => endpoint !== 'GET /v1/openapi.json')

/** Those that our own decisions add are in docs/api.md, which docs-tables.test.ts compares with the operations. */
test('every endpoint of the contract is there', () => {
  const wanted = [...machine, ...guides].map(({ endpoint }) => endpoint)
  expect(wanted.length).toBe(16 + 11)
  expect(operations.map(({ http }) => `${http.method} ${http.path}`)).toEqual(expect.arrayContaining(wanted))
})

interface Wanted {
  readonly in: string
  readonly name: string
  readonly type: string | undefined
  readonly minimum: number | undefined
  readonly maximum: number | undefined
  readonly default: number | undefined
}

/** `query `limit`: integer, 1 to 200, default 100; `days`: integer 1 to 365`: a place holds until the next one. */
function wantedParameters(text: string): Wanted[] {
  let place = 'query'
  return text.split(';').flatMap((part) => {
    const match =
      /^\s*(?:(query|path) )?`(\w+)`(?:: (integer|string)(?:,? (\d+) to (\d+))?(?:, default (\d+))?(?:, optional)?)?$/.exec(
        part,
      )
    if (match === null) {
      if (part === 'none') return []
      throw new Error(`not understood: ${part}`)
    }
    place = match[1] ?? place
    const number = (digits: string | undefined) => (digits === undefined ? undefined : Number(digits))
    const [, , name, type, minimum, maximum, fallback] = match
    const bounds = { minimum: number(minimum), maximum: number(maximum), default: number(fallback) }
    return [{ in: place, name: name!, type: type ?? 'integer', ...bounds }]
  })
}

describe.each(machine)('$endpoint', (row) => {
  const shown = shownAt(row.endpoint)
  const parameters = (shown.parameters ?? []).filter((parameter) => parameter.in !== 'header')

  test('has the parameters of the contract with their bounds and defaults, and none but ours beside them', () => {
    const wanted = wantedParameters(row.parameters)
    for (const { in: place, name, type, ...bounds } of wanted) {
      const parameter = parameters.find((one) => one.name === name)
      expect(parameter, name).toMatchObject({ in: place, required: place === 'path' })
      const { schema } = parameter!
      expect(schema.type).toBe(type)
      expect({ minimum: schema.minimum, maximum: schema.maximum, default: schema.default }).toEqual(bounds)
    }
    const others = parameters.map(({ name }) => name).filter((name) => !wanted.some((one) => one.name === name))
    expect(others).toEqual(addedParameters[row.endpoint] ?? [])
  })

  test('takes the body of the contract', () => {
    const types = Object.keys(shown.requestBody?.content ?? {})
    if (row.body === 'none') {
      expect(shown.requestBody?.required ?? false).toBe(false)
      return expect(types).toEqual(addedBodies.includes(row.endpoint) ? ['application/json'] : [])
    }
    if (!row.body.startsWith('multipart form')) return expect(types).toEqual(['application/json'])
    expect(types).toEqual(['multipart/form-data'])
    const { properties, required } = resolved(shown.requestBody!.content['multipart/form-data']!.schema)
    expect(row.body).toContain('`file` (binary, required), `alt_text` (string, default empty)')
    expect([Object.keys(properties!), required]).toEqual([['file', 'alt_text'], ['file']])
    expect(properties).toMatchObject({
      file: { type: 'string', contentMediaType: 'application/octet-stream' },
      alt_text: { type: 'string', default: '' },
    })
  })

  test('answers 200 with what the contract says: a list, an object of a name, or bytes', () => {
    const content = shown.responses['200']!.content!
    if (row.success.includes('binary stream')) return expect(Object.keys(content)).not.toContain('application/json')
    const { schema } = content['application/json']!
    if (row.success.startsWith('array of ')) expect(schema['type']).toBe('array')
    else expect(schema['$ref']).toMatch(/^#\/components\/schemas\/\w+$/)
  })
})

describe.each(guides.filter(({ notes }) => /Needs `|Query /.test(notes)))('$endpoint', ({ endpoint, notes }) => {
  test('needs the scope and takes the parameters that the guides name', () => {
    const operation = operations.find(({ http }) => `${http.method} ${http.path}` === endpoint)!
    const scope = /Needs `([a-z]+:[a-z]+)`/.exec(notes)?.[1]
    if (scope !== undefined) expect(operation.scope).toBe(scope)
    const { parameters = [] } = shownAt(endpoint)
    const query = /Query .*$/.exec(notes)?.[0] ?? ''
    for (const [, name] of query.matchAll(/`(\w+)`/g)) {
      expect(parameters.map((parameter) => parameter.name)).toContain(name)
    }
    const most = /`limit` \(up to (\d+)\)/.exec(notes)?.[1]
    if (most !== undefined) {
      const limit = parameters.find(({ name }) => name === 'limit')
      expect(limit?.schema.maximum).toBe(Number(most))
    }
  })
})

test('the bounds of queries in the table of limits are those of the operations', () => {
  const rows = tableOf(tables, '## Limits').filter(([limit]) => limit!.endsWith('` query'))
  expect(rows.length).toBe(4)
  for (const [limit, value, endpoints] of rows) {
    const [, minimum, maximum, , fallback] = /^(?:(\d+) to |up to )(\d+)(, default (\d+))?$/.exec(value!)!
    for (const endpoint of endpoints!.split(', ')) {
      const name = limit!.split('`')[1]!
      const { schema } = shownAt(endpoint).parameters!.find((parameter) => parameter.name === name)!
      expect(schema.maximum).toBe(Number(maximum))
      if (minimum !== undefined) expect(schema.minimum).toBe(Number(minimum))
      if (fallback !== undefined) expect(schema.default).toBe(Number(fallback))
    }
  }
})

test('the reading of parameters can fail', () => {
  expect(wantedParameters('query `limit`: integer, 1 to 200, default 100; `q`: string, optional')).toEqual([
    { in: 'query', name: 'limit', type: 'integer', minimum: 1, maximum: 200, default: 100 },
    { in: 'query', name: 'q', type: 'string', minimum: undefined, maximum: undefined, default: undefined },
  ])
  expect(() => wantedParameters('query limit up to 5')).toThrow('not understood')
})
