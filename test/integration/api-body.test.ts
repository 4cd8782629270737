import { describe, expect, test } from 'vitest'
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

const good = '{"title":"a","count":"3"}'
const got = { path: { thing_id: 7 }, query: {}, body: { title: 'a', count: 3 } }

test.each([
  'application/json',
  'APPLICATION/JSON; charset=utf-8',
  'application/vnd.api+json',
  'application/merge-patch+json;x=1',
])('a body of type %s is read as JSON', async (type) => {
  expect(await send(good, { type })).toEqual({ status: 200, answer: got })
})

test.each(['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp', 'text/json', null])(
  'a body of type %s is text, which is no object',
  async (type) => {
    expect(await send(good, { type })).toEqual({
      status: 422,
      answer: {
        detail: [
          {
            type: 'model_attributes_type',
            loc: ['body'],
            msg: 'Input should be a valid dictionary or object to extract fields from',
            input: good,
          },
        ],
      },
    })
  },
)

test.each(['thing_7', '7', '+7', '7.0'])('the id may be written %s', async (id) => {
  expect(await send(good, { path: `/v1/things/${id}` })).toEqual({ status: 200, answer: got })
})

test('errors of path, query and body come together, in this order', async () => {
  const { status, answer } = await send('{"count":true}', { path: '/v1/things/x?limit=9' })
  expect(status).toBe(422)
  expect((answer.detail as { loc: unknown; type: string }[]).map(({ loc, type }) => [loc, type])).toEqual([
    [['path', 'thing_id'], 'int_parsing'],
    [['query', 'limit'], 'less_than_equal'],
    [['body', 'title'], 'missing'],
  ])
})

test('a body that is text is refused beside what else is wrong', async () => {
  const { status, answer } = await send(good, { type: 'text/plain', path: '/v1/things/x?limit=9' })
  const types = (answer.detail as { type: string }[]).map(({ type }) => type)
  expect([status, types]).toEqual([422, ['int_parsing', 'less_than_equal', 'model_attributes_type']])
})

test('each error has its members in the order of the contract', async () => {
  const { answer } = await send('{"title":""}')
  expect(JSON.stringify(answer)).toBe(
    '{"detail":[{"type":"string_too_short","loc":["body","title"],"msg":"String should have at least 1 character","input":"","ctx":{"min_length":1}}]}',
  )
})

describe('a body that is no JSON', () => {
  test.each([['nope', 0, 'Expecting value']])(
    '%s is 422 json_invalid alone, whatever else is wrong',
    async (body, position, problem) => {
      const { status, answer } = await send(body, { path: '/v1/things/x?limit=9' })
      expect(status).toBe(422)
      expect(answer.detail).toEqual([
        {
          type: 'json_invalid',
          loc: ['body', position],
          msg: 'JSON decode error',
          input: {},
          ctx: { error: problem },
        },
      ])
    },
  )

  test.each([
    ['invalid UTF-8', Buffer.from('{"title":"\xff"}', 'latin1')],
    ['nesting of 100,000', '['.repeat(100_000)],
  ])('%s is 400', async (_, body) => {
    expect(await send(body)).toEqual({ status: 400, answer: { detail: 'There was an error parsing the body' } })
  })

  test.each([undefined, '', 'null', '\ufeffnull'])('%j is missing', async (body) => {
    expect(await send(body)).toEqual({
      status: 422,
      answer: { detail: [{ type: 'missing', loc: ['body'], msg: 'Field required', input: null }] },
    })
  })

  test('says nothing to somebody without a key', async () => {
    expect((await send('nope', { key: 'svc_sk_x' })).status).toBe(401)
  })
})

test('a long body without a good key is refused before it has arrived', async () => {
  const head = (key: string) =>
    `PATCH /v1/things/7 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: 9000\r\n\r\n`
  const { statuses, text, closedAfterMs } = await exchange(api.port, [head('svc_sk_none'), '{'])
  expect(statuses).toEqual([401])
  expect(text).toContain('WWW-Authenticate: Bearer')
  expect(closedAfterMs).toBeDefined()
  const whole = [head(mine.apiKey), '{"title":"a",', 100, `"count":"3"}${' '.repeat(9000 - 25)}`]
  expect((await exchange(api.port, whole, { until: '}}' })).statuses).toEqual([200])
})

test.each([
  ['too long', 413, 'PATCH /v1/things/7', () => mine.apiKey, ''],
  ['of nobody', 401, 'PATCH /v1/things/7', () => 'svc_sk_none', ''],
  ['for what is not there', 404, 'PATCH /v1/nothing', () => mine.apiKey, ''],
  ['of another method', 405, 'POST /v1/things/7', () => mine.apiKey, ''],
  ['with a slash behind its path', 307, 'PATCH /v1/things/7/', () => mine.apiKey, ''],
  ['compressed', 415, 'PATCH /v1/things/7', () => mine.apiKey, 'Content-Encoding: gzip\r\n'],
])('a body that is %s is read to its end before the answer: what follows it is the next request', async (...row) => {
  const [, status, line, key, more] = row
  const head = (first: string, headers: string) =>
    `${first} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${headers}\r\n`
  const chunk = `8000\r\n${' '.repeat(0x8000)}\r\n`
  const sent = [
    head(line, `Authorization: Bearer ${key()}\r\nTransfer-Encoding: chunked\r\n${more}`),
    ...Array.from({ length: 40 }, () => chunk),
    20,
    '0\r\n\r\n',
    head('PATCH /v1/things/7', `Authorization: Bearer ${mine.apiKey}\r\nContent-Length: ${good.length}\r\n`) + good,
  ]
  const { statuses } = await exchange(api.port, sent, { until: '}}' })
  expect(statuses).toEqual([status, 200])
})
