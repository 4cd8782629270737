/** Bodies at `/mcp` that are JSON-RPC only nearly: no 500, no hang, and the code that the envelope asks for. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { operations } from '../../api/operations/registry.ts'
import { makeTools } from '../../api/transports/mcp-tools.ts'
import { setUpApi } from '../support/api.ts'
import { post, type RpcAnswer } from '../support/mcp.ts'
import { isLong } from '../support/short-form.ts'

const { api, mine } = setUpApi()
const cases = Number(process.env['RUNS'] ?? (isLong ? 5_000 : 200))

const names = operations.flatMap(({ tool }) => tool ?? [])
const odd = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom(
    ...'2.0 ping tools/call tools/list initialize __proto__'.split(' '),
    ...['\0', '\ud800', 1e21, -1, 1.5, null],
  ),
)
const known = [...makeTools(operations).values()].flatMap(({ shown }) => Object.keys(shown.inputSchema['properties']!))
const argument = fc.constantFrom(...new Set(known), '__proto__', 'x')
const params = fc.oneof(
  { weight: 1, arbitrary: odd },
  {
    weight: 3,
    arbitrary: fc.record(
      {
        name: fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...names) }, { weight: 1, arbitrary: odd }),
        arguments: fc.oneof(
          { weight: 4, arbitrary: fc.dictionary(argument, odd, { maxKeys: 6 }) },
          { weight: 1, arbitrary: odd },
        ),
        cursor: odd,
      },
      { requiredKeys: [] },
    ),
  },
)
const method = fc.oneof(
  { weight: 3, arbitrary: fc.constant('tools/call') },
  fc.constantFrom('tools/list', 'initialize', 'ping', 'resources/list', 'notifications/x'),
  odd,
)
const id = fc.oneof({ weight: 3, arbitrary: fc.integer() }, fc.string({ unit: 'binary' }), odd)
const message = fc.record(
  {
    jsonrpc: fc.oneof({ weight: 8, arbitrary: fc.constant('2.0') }, { weight: 1, arbitrary: odd }),
    id,
    method,
    params,
  },
  { requiredKeys: ['jsonrpc'] },
)
const text = fc.oneof(
  { weight: 6, arbitrary: message.map((value) => JSON.stringify(value)) },
  { weight: 1, arbitrary: odd.map((value) => JSON.stringify(value)) },
  { weight: 1, arbitrary: fc.array(message, { maxLength: 3 }).map((value) => JSON.stringify(value)) },
  // Cut somewhere, or with a character put in.
  {
    weight: 2,
    arbitrary: fc.tuple(message, fc.nat(), fc.constantFrom('', '}', '"', '\\', '[')).map(([value, at, sign]) => {
      const whole = JSON.stringify(value)
      const end = at % whole.length
      return sign === '' ? whole.slice(0, end) : whole.slice(0, end) + sign + whole.slice(end)
    }),
  },
)

/** The codes that a body may get, and the status of each: read off the text alone. */
function allowed(body: string): { status: number; codes: readonly (number | undefined)[] } {
  let value: unknown
  try {
    value = JSON.parse(body)
  } catch {
    return { status: 400, codes: [-32700] }
  }
  const refused = { status: 400, codes: [-32600] }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return refused
  const { jsonrpc, id: sent, method: wanted, params } = value as Record<string, unknown>
  const hasId = typeof sent === 'string' || Number.isSafeInteger(sent)
  if (jsonrpc !== '2.0' || (sent !== undefined && !hasId) || typeof wanted !== 'string') return refused
  const given = params == null || (Array.isArray(params) && params.length === 0) ? {} : params
  if (typeof given !== 'object' || Array.isArray(given)) return refused
  if (!hasId) return { status: 202, codes: [undefined] }
  switch (wanted) {
    case 'ping':
      return { status: 200, codes: [undefined] }
    case 'tools/list':
    case 'initialize':
      return { status: 200, codes: [undefined, -32602] }
    case 'tools/call': {
      const isKnown = names.includes((given as { name?: string }).name as never)
      return { status: 200, codes: isKnown ? [undefined, -32602, -32009] : [-32602] }
    }
    default:
      return { status: 200, codes: [-32601] }
  }
}

test('gets the status and the code of its envelope, whatever is in it', async () => {
  const seen = new Map<string, number>()
  await fc.assert(
    fc.asyncProperty(text, async (body) => {
      const response = await post(api, mine.apiKey, body)
      const said = await response.text()
      const answer = said === '' ? undefined : (JSON.parse(said) as RpcAnswer)
      const { status, codes } = allowed(body)
      expect([body, response.status]).toEqual([body, status])
      expect(codes).toContain(answer?.error?.code)
      if (answer !== undefined)
        expect([answer.jsonrpc, 'result' in answer]).toEqual(['2.0', answer.error === undefined])
      // Half a character of two has no bytes: it is sent as U+FFFD.
      if (response.status === 200) expect(answer!.id).toBe((JSON.parse(body.toWellFormed()) as { id: unknown }).id)
      const kind = `${response.status} ${answer?.error?.code ?? (answer?.result?.['isError'] ? 'isError' : 'answer')}`
      seen.set(kind, (seen.get(kind) ?? 0) + 1)
    }),
    { numRuns: cases },
  )
  // Each way of going wrong was met.
  const kinds = ['200 -32601', '200 -32602', '200 answer', '200 isError', '202 answer', '400 -32600', '400 -32700']
  expect([...seen.keys()]).toEqual(expect.arrayContaining(kinds))
})
