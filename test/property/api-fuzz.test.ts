import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import { operations } from '../../api/operations/registry.ts'
import { operationId as idOf } from '../../api/transports/openapi.ts'
import { refusals } from '../../runtime/http/refusals.ts'
import { unread } from '../../runtime/http/unread.ts'
import { problems } from '../../schemas/errors/problems.ts'
import { setUpApi } from '../support/api.ts'
import { anyRequest, type FuzzedBody, type FuzzedRequest, requestsOf } from '../support/api-arbitraries.ts'
import { type ApiOperation, apiDocument, filledPath, makeAccount, makers, shownOf } from '../support/api-requests.ts'
import { isLong } from '../support/short-form.ts'

/** Requests that are sent at once, and how often that is done. */
const together = 8
const rounds = isLong ? 5_000 : 60
const deadlineMs = 20_000

const { stores, api, mine } = setUpApi({ sharesWorkspace: true })
beforeAll(async () => {
  const asker = { api, stores, workspaceId: mine.workspaceId, key: mine.apiKey }
  await makeAccount(asker)
  for (const [name, make] of Object.entries(makers)) {
    if (operations.some(({ http }) => http.path.includes(`{${name}}`))) await make(asker)
  }
})

const byId = new Map(operations.map((operation) => [idOf(operation), operation]))

const ajv = new Ajv2020({
  strict: false,
  formats: { 'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/, binary: true },
})
const validators = new Map<object, ValidateFunction>()
function validatorOf(schema: object): ValidateFunction {
  const known = validators.get(schema)
  if (known !== undefined) return known
  const made = ajv.compile({ ...schema, components: apiDocument.components })
  validators.set(schema, made)
  return made
}

/** Answers that any path may give, whatever stands in the document: those from before there is an operation. */
const atAnyPath = [
  ...[problems.not_found, problems.method_not_allowed, refusals.badFraming, refusals.manyHosts],
  ...[refusals.bodyTooLarge, refusals.encoding, unread.headTooLarge],
].map(({ status, detail }) => `${status} ${JSON.stringify({ detail })}`)

/** The answer's fault; undefined where it is as the document says. */
async function faultOf(response: Response, shown: ApiOperation): Promise<string | undefined> {
  const said = shown.responses[String(response.status)]
  const text = await response.text()
  if (response.status >= 500) return `${response.status} ${text}`
  if (said === undefined)
    return atAnyPath.includes(`${response.status} ${text.trimEnd()}`)
      ? undefined
      : `undocumented ${response.status} ${text}`
  for (const [name, { required }] of Object.entries(said.headers ?? {})) {
    if (required && !response.headers.has(name)) return `${response.status} without ${name}`
  }
  if (said.content === undefined) return text === '' ? undefined : `${response.status} with a body`
  const type = (response.headers.get('content-type') ?? '').split(';')[0]!
  const content = said.content[type] ?? said.content[type.replace(/\/.*/, '/*')]
  if (content === undefined) return `${response.status} as ${type}`
  if (type !== 'application/json') return undefined
  const validate = validatorOf(content.schema)
  return validate(JSON.parse(text)) ? undefined : `${response.status} ${text} ${JSON.stringify(validate.errors)}`
}

async function send(request: FuzzedRequest): Promise<string | undefined> {
  const operation = byId.get(request.operationId)!
  const path = Object.fromEntries(Object.entries(request.path).map(([name, value]) => [name, encoded(value)]))
  const query = request.query.map(([name, value]) => `${encoded(name)}=${encoded(value)}`).join('&')
  const headers = new Headers()
  for (const [name, value] of Object.entries(request.headers)) {
    if (name === 'Content-Type' && (value === '' || request.body.kind !== 'text')) continue
    headers.set(name, value)
  }
  const { method } = operation.http
  const response = await api.ask(filledPath(operation, path) + (query === '' ? '' : `?${query}`), {
    method,
    key: mine.apiKey,
    headers: Object.fromEntries(headers),
    ...(method === 'GET' ? {} : { body: bodyOf(request.body) }),
    signal: AbortSignal.timeout(deadlineMs),
  })
  return faultOf(response, shownOf(operation))
}

/** Lone surrogates have no bytes: they are sent as what a careless client makes of them. */
function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed())
}

function bodyOf(body: FuzzedBody): NonNullable<RequestInit['body']> | null {
  if (body.kind === 'none') return null
  if (body.kind === 'text') return typeof body.text === 'string' ? body.text : new Uint8Array(body.text)
  const form = new FormData()
  for (const [name, value] of body.fields) {
    if (typeof value === 'string') form.append(name, value)
    else form.append(name, new Blob([new Uint8Array(value)]), 'file.png')
  }
  return form
}

test(
  'whatever is asked is answered within the deadline, as the document says, and never by 5xx',
  async () => {
    const faultsOf = (requests: readonly FuzzedRequest[]) =>
      Promise.all(requests.map((request) => send(request).catch((error) => `${error}`)))
    // Chance leaves no operation out.
    expect([...requestsOf.keys()].sort()).toEqual([...byId.keys()].sort())
    for (const requests of requestsOf.values()) {
      const sampled = fc.sample(requests, 5)
      const faults = await faultsOf(sampled)
      expect(faults.flatMap((fault, at) => (fault === undefined ? [] : [[fault, sampled[at]]]))).toEqual([])
    }
    await fc.assert(
      fc.asyncProperty(fc.array(anyRequest, { minLength: 1, maxLength: together, size: 'max' }), async (requests) => {
        expect((await faultsOf(requests)).filter((fault) => fault !== undefined)).toEqual([])
      }),
      { numRuns: rounds },
    )
  },
  isLong ? 3_600_000 : 300_000,
)

test('and the judgement of an answer can fail', async () => {
  const shown = shownOf(byId.get('get_workspace')!)
  const headers = { 'Content-Type': 'application/json' }
  const good = await api.ask('/v1/workspace', { key: mine.apiKey })
  expect(await faultOf(good, shown)).toBeUndefined()
  expect(await faultOf(new Response('{}', { status: 200, headers }), shown)).toContain('required')
  expect(await faultOf(new Response('{"detail":""}', { status: 500, headers }), shown)).toContain('500')
  expect(await faultOf(new Response('{"detail":""}', { status: 418, headers }), shown)).toContain('undocumented')
  expect(await faultOf(new Response('{"detail":""}', { status: 401, headers }), shown)).toContain('WWW-Authenticate')
  expect(await faultOf(new Response('x', { status: 200 }), shown)).toContain('as text/plain')
})
