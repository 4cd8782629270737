import { expect, test } from 'vitest'
import { z } from 'zod'
import { defineOperation } from '../../api/operations/define.ts'
import { idInPath, laxInt } from '../../schemas/lax.ts'
import { setUpApi } from '../support/api.ts'
import { exchange } from '../support/raw-http.ts'

/** An operation with every kind of input, that answers with what it got. */
const echo = defineOperation({
  name: 'thing.update',
  http: { method: 'PATCH', path: '/v1/things/{thing_id}' },
  summary: '',
  tag: '',
  effect: 'update',
  scope: 'posts:write',
  input: {
    path: z.object({ thing_id: idInPath('thing') }),
    query: z.object({ limit: laxInt({ ge: 1, le: 5 }) }),
    body: z.object({ title: z.string().min(1).max(180), count: laxInt({ ge: 0, le: 9 }) }),
  },
  output: z.unknown(),
  handle: async ({ path, query, body }) => ({ path, query, body }),
})

const { api, mine } = setUpApi({ operations: [echo] })
const badPath = '/v1/things/x?limit=9'

interface Sent {
  path?: string
  type?: string | null
  key?: string
}

async function send(
  body: string | Buffer | undefined,
  { path = '/v1/things/7', type = 'application/json', key }: Sent = {},
) {
  const headers: Record<string, string> = type === null ? {} : { 'Content-Type': type }
  // A Blob without a type adds no Content-Type of its own, as a string would.
  const init = { method: 'PATCH', headers, ...(body !== undefined && { body: new Blob([body]) }) }
  const response = await api.ask(path, { ...init, key: key ?? mine.apiKey })
  return { status: response.status, answer: (await response.json()) as { detail?: unknown } }
}
const faults = ({ answer }: Awaited<ReturnType<typeof send>>) =>
  (answer.detail as { loc: (string | number)[]; type: string }[]).map(({ loc, type }) => [loc.join('.'), type])

const good = '{"title":"a","count":"3"}'

test.each([
  'application/json',
  'APPLICATION/JSON; charset=utf-8',
  'application/vnd.api+json',
  'application/merge-patch+json;x=1',
])('a body of type %s is read as JSON', async (type) => {
  const got = { path: { thing_id: 7 }, query: {}, body: { title: 'a', count: 3 } }
  expect(await send(good, { type })).toEqual({ status: 200, answer: got })
})

test.each(['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp', 'text/json', null])(
  'a body of type %s is text, which is no object',
  async (type) => {
    const msg = 'Input should be a valid dictionary or object to extract fields from'
    const fault = { type: 'model_attributes_type', loc: ['body'], msg, input: good }
    expect(await send(good, { type })).toEqual({ status: 422, answer: { detail: [fault] } })
  },
)

test('errors of path, query and body come together, in this order, each with its members in that of the contract', async () => {
  const [path, query] = [
    ['path.thing_id', 'int_parsing'],
    ['query.limit', 'less_than_equal'],
  ]
  expect(faults(await send('{"count":true}', { path: badPath }))).toEqual([path, query, ['body.title', 'missing']])
  const asText = await send(good, { type: 'text/plain', path: badPath })
  expect(faults(asText)).toEqual([path, query, ['body', 'model_attributes_type']])
  expect(JSON.stringify((await send('{"title":""}')).answer)).toBe(
    '{"detail":[{"type":"string_too_short","loc":["body","title"],"msg":"String should have at least 1 character","input":"","ctx":{"min_length":1}}]}',
  )
})

test('a text that can not be stored is one of the errors of its field, and ignored where nothing is read', async () => {
  const odd = JSON.stringify({ count: 'x', title: 'a\0', more: '\ud83d' })
  expect(faults(await send(odd, { path: '/v1/things/x' }))).toEqual([
    ['path.thing_id', 'int_parsing'],
    ['body.title', 'value_error'],
    ['body.count', 'int_parsing'],
  ])
  const unread = JSON.stringify({ title: 'a', count: 3, more: '\ud83d', 'a\0': 1 })
  const got = { path: { thing_id: 7 }, query: {}, body: { title: 'a', count: 3 } }
  expect(await send(unread)).toEqual({ status: 200, answer: got })
})

test('a body that is no JSON is told of alone, whatever else is wrong, and not to somebody without a key', async () => {
  const fault = { type: 'json_invalid', loc: ['body', 0], msg: 'JSON decode error', input: {} }
  const detail = [{ ...fault, ctx: { error: 'Expecting value' } }]
  expect(await send('nope', { path: badPath })).toEqual({ status: 422, answer: { detail } })
  expect((await send('nope', { key: 'svc_sk_x' })).status).toBe(401)
})

const unreadable = { status: 400, answer: { detail: 'There was an error parsing the body' } }
test('a body with invalid UTF-8 is 400', async () => {
  expect(await send(Buffer.from('{"title":"\xff"}', 'latin1'))).toEqual(unreadable)
})

test('bodies nested 100,000 deep are 400, and others beside them are answered', async () => {
  const nested = '['.repeat(100_000)
  const answers = await Promise.all([nested, good, nested, good].map((body) => send(body)))
  expect(answers.map(({ status }) => status)).toEqual([400, 200, 400, 200])
  expect(answers[0]).toEqual(unreadable)
})

test.each([undefined, '', 'null', '\ufeffnull'])('the body %j is missing', async (body) => {
  const fault = { type: 'missing', loc: ['body'], msg: 'Field required', input: null }
  expect(await send(body)).toEqual({ status: 422, answer: { detail: [fault] } })
})

const head = (line: string, key: string, headers: string) =>
  `${line} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n${headers}\r\n`
const patch = 'PATCH /v1/things/7'

test('a long body without a good key is refused before it has arrived', async () => {
  for (const [framing, part] of [
    ['Content-Length: 9000\r\n', '{'],
    ['Transfer-Encoding: chunked\r\n', `2000\r\n${' '.repeat(0x2000)}\r\n`],
  ] as const) {
    const { statuses, text, closedAfterMs } = await exchange(api.port, [head(patch, 'svc_sk_none', framing), 50, part])
    expect([framing, statuses]).toEqual([framing, [401]])
    expect(text).toContain('WWW-Authenticate: Bearer')
    expect(closedAfterMs).toBeDefined()
  }
  const rest = `"count":"3"}${' '.repeat(9000 - 25)}`
  const whole = [head(patch, mine.apiKey, 'Content-Length: 9000\r\n'), '{"title":"a",', 100, rest]
  expect((await exchange(api.port, whole, { until: '}}' })).statuses).toEqual([200])
})

test.each([
  ['too long', 413, patch, () => mine.apiKey, ''],
  ['of nobody', 401, patch, () => 'svc_sk_none', ''],
  ['for what is not there', 404, 'PATCH /v1/nothing', () => mine.apiKey, ''],
  ['of another method', 405, 'POST /v1/things/7', () => mine.apiKey, ''],
  ['with a slash behind its path', 307, 'PATCH /v1/things/7/', () => mine.apiKey, ''],
  ['compressed', 415, patch, () => mine.apiKey, 'Content-Encoding: gzip\r\n'],
])('a body that is %s is read to its end before the answer: what follows it is the next request', async (...row) => {
  const [, status, line, key, more] = row
  const chunk = `8000\r\n${' '.repeat(0x8000)}\r\n`
  const sent = [
    head(line, key(), `Transfer-Encoding: chunked\r\n${more}`),
    ...Array.from({ length: 40 }, () => chunk),
    20,
    '0\r\n\r\n',
    head(patch, mine.apiKey, `Content-Length: ${good.length}\r\n`) + good,
  ]
  expect((await exchange(api.port, sent, { until: '}}' })).statuses).toEqual([status, 200])
})
