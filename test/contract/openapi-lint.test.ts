import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { operations } from '../../api/operations/registry.ts'
import { makeOpenApi } from '../../api/transports/openapi.ts'
import { tagDescriptions } from '../../api/transports/openapi-tags.ts'
import { projectFile } from '../../runtime/paths.ts'

interface Content {
  readonly schema: object
  readonly example?: unknown
  readonly examples?: Record<string, { value: unknown }>
}
interface Shown {
  operationId: string
  readonly tags: string[]
  readonly parameters?: { name: string; schema: object; example?: unknown }[]
  readonly requestBody?: { content: Record<string, Content> }
  readonly responses: Record<string, { headers?: Record<string, unknown>; content?: Record<string, Content> }>
}
type Document = Record<string, unknown> & {
  paths: Record<string, Record<string, Shown>>
  components: { schemas: Record<string, object> }
}

const document = makeOpenApi(operations, 'https://api.svc.test') as Document
const shown = Object.values(document.paths).flatMap((byMethod) => Object.values(byMethod))

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-openapi-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** What the linter finds, by rule. It needs no network, and mustn't look for any. */
function lint(judged: unknown): string[] {
  const file = join(folder, 'openapi.json')
  writeFileSync(file, JSON.stringify(judged))
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

test('the document passes the strict linter', () => {
  expect(lint(document)).toEqual([])
})

test('and the linter can fail', () => {
  const offence = (change: (copy: Document) => void) => {
    const copy = structuredClone(document)
    change(copy)
    return lint(copy).join('\n')
  }
  const workspace = (copy: Document) => copy.paths['/v1/workspace']!['get']!
  expect(offence((copy) => delete (workspace(copy) as Partial<Shown>).operationId)).toContain('operationId')
  const headers = (copy: Document) => workspace(copy).responses['200']!.headers!
  expect(offence((copy) => delete headers(copy)['X-RateLimit-Limit'])).toContain('response-contains-header')
  expect(
    offence((copy) => {
      workspace(copy).responses['200']!.content!['application/json'] = {
        ...workspace(copy).responses['200']!.content!['application/json']!,
        example: { id: 'twelve' },
      }
    }),
  ).toContain('no-invalid-media-type-examples')
  expect(offence((copy) => Object.assign(copy.components.schemas, { Unused: { type: 'object' } }))).toContain(
    'no-unused-components',
  )
})

test('every tag is described, in an order of our own', () => {
  const tags = document['tags'] as { name: string; description?: string }[]
  expect(tags.every(({ description }) => description !== undefined)).toBe(true)
  const known = Object.keys(tagDescriptions)
  expect(tags.map(({ name }) => known.indexOf(name))).toEqual(
    tags.map(({ name }) => known.indexOf(name)).sort((a, b) => a - b),
  )
  for (const { tags: used } of shown) expect(known).toContain(used[0])
})

test.each(shown.map((operation) => [operation.operationId, operation] as const))(
  '%s has examples of its body and of every answer, each valid by its schema',
  (_, { parameters = [], requestBody, responses }) => {
    const ajv = new Ajv2020({ strict: false, allErrors: true, formats: { 'date-time': true, binary: true } })
    const valid = (schema: object, value: unknown) => {
      const validate = ajv.compile({ ...schema, components: document.components })
      validate(value)
      return validate.errors
    }
    const bodies = [requestBody, ...Object.values(responses)].flatMap((one) => Object.entries(one?.content ?? {}))
    expect(bodies.length).toBeGreaterThan(1)
    for (const [type, { schema, example, examples = {} }] of bodies) {
      if (type !== 'application/json') continue
      const values = example === undefined ? Object.values(examples).map(({ value }) => value) : [example]
      expect(values.length).toBeGreaterThan(0)
      for (const value of values) expect(valid(schema, value)).toBeNull()
    }
    for (const { schema, example } of parameters) if (example !== undefined) expect(valid(schema, example)).toBeNull()
  },
)

test('bodies and answers are components with names, or lists of them', () => {
  const named = /^\{"(type":"array","items":\{")?\$ref":"#\/components\/schemas\/\w+"\}+$/
  for (const { requestBody, responses } of shown) {
    for (const content of [requestBody?.content, responses['200']!.content]) {
      const schema = content?.['application/json']?.schema
      if (schema !== undefined) expect(JSON.stringify(schema)).toMatch(named)
    }
  }
})
