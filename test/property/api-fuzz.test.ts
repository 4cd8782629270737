import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import { operations } from '../../api/operations/registry.ts'
import { operationId as idOf } from '../../api/transports/openapi.ts'
import { answerFault } from '../support/answer-fault.ts'
import { setUpApi } from '../support/api.ts'
import { anyRequest, type FuzzedBody, type FuzzedRequest, requestsOf } from '../support/api-arbitraries.ts'
import { type ApiOperation, filledPath, makeAccount, makers, shownOf } from '../support/api-requests.ts'
import { isLong } from '../support/short-form.ts'

/** Requests that are sent at once, and how often that is done. */
const together = 8
const rounds = isLong ? 5_000 : 60
/** In short only against hanging: other files use the machine. */
const deadlineMs = isLong ? 20_000 : 120_000

const { stores, api, mine } = setUpApi({ sharesWorkspace: true })
beforeAll(async () => {
  const asker = { api, stores, workspaceId: mine.workspaceId, key: mine.apiKey }
  await makeAccount(asker)
  for (const [name, make] of Object.entries(makers)) {
    if (operations.some(({ http }) => http.path.includes(`{${name}}`))) await make(asker)
  }
})

const byId = new Map(operations.map((operation) => [idOf(operation), operation]))

/** The answer's fault; undefined where it is as the document says, and no 5xx. */
async function faultOf(response: Response, shown: ApiOperation): Promise<string | undefined> {
  return response.status >= 500 ? `${response.status} ${await response.text()}` : answerFault(response, shown)
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
  const grown = JSON.stringify({ ...((await good.clone().json()) as object), another: 1 })
  expect(await faultOf(new Response(grown, good), shown)).toContain('additional')
  expect(await faultOf(good, shown)).toBeUndefined()
  expect(await faultOf(new Response('{}', { status: 200, headers }), shown)).toContain('required')
  expect(await faultOf(new Response('{"detail":""}', { status: 500, headers }), shown)).toContain('500')
  expect(await faultOf(new Response('{"detail":""}', { status: 418, headers }), shown)).toContain('undocumented')
  expect(await faultOf(new Response('{"detail":""}', { status: 401, headers }), shown)).toContain('WWW-Authenticate')
  expect(await faultOf(new Response('x', { status: 200 }), shown)).toContain('as text/plain')
})
