/** Requests made of the OpenAPI document: good ones, almost good ones and hostile ones, for every part of a request. */
import fc from 'fast-check'
import { type ApiParameter, type ApiSchema, apiDocument, type Content, references, resolved } from './api-requests.ts'
import { pixel } from './media-files.ts'

export interface FuzzedRequest {
  readonly operationId: string
  readonly path: Readonly<Record<string, string>>
  readonly query: readonly (readonly [string, string])[]
  readonly headers: Readonly<Record<string, string>>
  readonly body: FuzzedBody
}
/** `form`: fields of a multipart body, a Buffer being a file. */
export type FuzzedBody =
  | { readonly kind: 'none' }
  | { readonly kind: 'text'; readonly text: string | Buffer }
  | { readonly kind: 'form'; readonly fields: readonly (readonly [string, string | Buffer])[] }

const hostileTexts = [
  ...['', ' ', '\u0000', 'a\u0000b', '\ud800', '\udfff x', '\u202e', '\ufeff', 'é', 'e\u0301', '\r\nX-Injected: 1'],
  ...['💣'.repeat(200), 'x'.repeat(5000), "'; DROP TABLE posts; --", '" OR 1=1'],
  ...'$1 % _ \\ ../../etc/passwd %00 %2e%2e%2f {{7*7}} <script>alert(1)</script>'.split(' '),
  ...'__proto__ constructor toString null undefined NaN Infinity'.split(' '),
  ...'-0 1e400 1e21 0x10 1_000 64800000000000 9007199254740993 99999999999999999999 -9223372036854775809'.split(' '),
  ...'2026-13-45T99:99:99Z 0000-00-00 +275760-09-13T00:00:00Z 9999-12-31T23:59:59.999999999+14:00'.split(' '),
  ...'http:// https:// https://[::1 https://a:b@c javascript:alert(1) https://💣.example/ HTTPS://EX.COM'.split(' '),
]
const text = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...hostileTexts) },
  { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) },
  { weight: 1, arbitrary: fc.string({ maxLength: 300 }) },
)
const number = fc.oneof(
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(0, -1, 1, 2 ** 31, 2 ** 53 - 1, 2 ** 53 + 2, -(2 ** 63), 1e21, 1e308, 0.1, -0),
)
/** Values that nobody asked for. */
const anything = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    text,
    number,
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(text, tie('value'), { maxKeys: 4 }),
  ),
})).value

/** A value by the schema, or now and then one that isn't. */
function fuzzedValue(schema: ApiSchema, depth = 0): fc.Arbitrary<unknown> {
  return fc.oneof(
    { weight: 12, arbitrary: goodValue(schema, depth) },
    { weight: 2, arbitrary: text as fc.Arbitrary<unknown> },
    { weight: 1, arbitrary: anything },
  )
}

function goodValue(schema: ApiSchema, depth: number): fc.Arbitrary<unknown> {
  const { $ref, type, enum: closed, anyOf, properties, required = [], items, additionalProperties } = schema
  if ($ref !== undefined) return goodValue(resolved(schema), depth)
  if (closed !== undefined) return fc.constantFrom(...closed)
  if (anyOf !== undefined) return fc.oneof(...anyOf.map((branch) => goodValue(branch, depth)))
  if (Array.isArray(type)) return fc.oneof(...type.map((one) => goodValue({ ...schema, type: one }, depth)))
  switch (type) {
    case 'object': {
      const values = typeof additionalProperties === 'object' ? additionalProperties : {}
      if (properties === undefined)
        return fc.dictionary(fc.oneof(text, fc.constantFrom('mastodon', 'x')), fuzzedValue(values, depth + 1), {
          maxKeys: 4,
        })
      return objectOf(properties, required, depth)
    }
    case 'array':
      return fc.array(fuzzedValue(items ?? {}, depth + 1), { maxLength: 5 })
    case 'integer':
      return fc.oneof(fc.integer({ min: 0, max: 12 }), integerAround(schema), fc.constantFrom('1', ' 2 ', true, '3.0'))
    case 'number':
      return number
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    case 'string':
      return textBy(schema)
    default:
      return anything
  }
}

/** Mostly with what is required; sometimes with members that nobody knows. */
function objectOf(
  properties: Readonly<Record<string, ApiSchema>>,
  required: readonly string[],
  depth: number,
): fc.Arbitrary<unknown> {
  const members = Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, fuzzedValue(schema, depth + 1)]),
  )
  const whole = fc.record(members, { requiredKeys: [...required] })
  return fc.oneof(
    { weight: 10, arbitrary: whole },
    { weight: 1, arbitrary: fc.record(members, { requiredKeys: [] }) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(whole, fc.dictionary(text, anything, { maxKeys: 2 }))
        .map(([one, more]) => ({ ...one, ...more })),
    },
  )
}

function integerAround({ minimum, maximum }: ApiSchema): fc.Arbitrary<number> {
  const bounds = [minimum, maximum].filter((bound): bound is number => typeof bound === 'number')
  return bounds.length === 0
    ? fc.integer()
    : fc.constantFrom(...bounds.flatMap((bound) => [bound - 1, bound, bound + 1]))
}

function textBy({ format, minLength, maxLength }: ApiSchema): fc.Arbitrary<string> {
  const lengths = [minLength, maxLength].filter((bound): bound is number => typeof bound === 'number')
  const around = lengths.flatMap((bound) => [bound - 1, bound, bound + 1]).filter((length) => length >= 0)
  const choices: fc.Arbitrary<string>[] = [fc.string({ maxLength: 20 }), text]
  if (format === 'date-time')
    choices.push(
      fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
      fc.constant('2036-03-27T02:30:00'),
    )
  else
    choices.push(fc.constantFrom('Title', 'https://example.com/a?b=c#d', 'draft', '2026-11-20', '2026-11-20T09:30:00Z'))
  if (around.length > 0) choices.push(fc.constantFrom(...around).map((length) => '💬'.repeat(length)))
  return fc.oneof(...choices)
}

const ids = fc.oneof(
  { weight: 10, arbitrary: fc.integer({ min: 1, max: 8 }).map(String) },
  // Some of those that were created on the way.
  { weight: 8, arbitrary: fc.integer({ min: 1, max: 60 }).map(String) },
  {
    weight: 2,
    arbitrary: fc.constantFrom('post_1', 'media_1', 'link_1', 'webhook_endpoint_1', 'post_', 'post_-1', '+1', '1.0'),
  },
  { weight: 2, arbitrary: text.filter((one) => one !== '' && one !== '.' && one !== '..') },
)

function queryOf(parameters: readonly ApiParameter[]): fc.Arbitrary<[string, string][]> {
  const pairs = parameters.map(({ name, schema }) => fc.tuple(fc.constant(name), fuzzedValue(schema).map(asText)))
  const strange = fc.tuple(text, text)
  return fc.array(fc.oneof(...pairs, strange), { maxLength: 4 })
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}

/** Some are repeated, and a header can't carry all of them. */
const idempotencyKeys = fc.oneof(
  { weight: 6, arbitrary: fc.uuid() },
  { weight: 3, arbitrary: fc.constantFrom('a', 'b', 'c', 'd', 'x'.repeat(255)) },
  { weight: 1, arbitrary: fc.constantFrom('x'.repeat(256), 'é', '') },
)
const headers = fc.record(
  {
    'Idempotency-Key': idempotencyKeys,
    'X-Request-Id': fc.constantFrom('abc-1', 'x'.repeat(500), 'a b', '<>'),
    'If-None-Match': fc.constantFrom('*', '"x"'),
    Range: fc.constantFrom('bytes=0-0', 'bytes=-1', 'bytes=9-', 'bytes=5-2', 'x'),
    'Accept-Encoding': fc.constantFrom('gzip', 'br;q=0'),
  },
  { requiredKeys: [] },
)
const jsonTypes = fc.oneof(
  { weight: 8, arbitrary: fc.constant('application/json') },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      'application/problem+json; charset=utf-8',
      'text/plain',
      'multipart/form-data',
      'multipart/form-data; boundary=x',
      '',
    ),
  },
)

function bodyOf(content: Readonly<Record<string, Content>> | undefined): fc.Arbitrary<FuzzedBody> {
  const json = content?.['application/json']
  const form = content?.['multipart/form-data']
  const none = fc.constant<FuzzedBody>({ kind: 'none' })
  const raw = fc
    .oneof(
      text,
      fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
      fc.constant('['.repeat(70)),
      fc.constant(`{"a":${'9'.repeat(401)}}`),
    )
    .map((one): FuzzedBody => ({ kind: 'text', text: one }))
  if (form !== undefined) {
    const file = fc.oneof(
      fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
      fc.constantFrom(...files),
    )
    const fields = fc.array(
      fc.tuple(fc.constantFrom('file', 'alt_text', 'x'), fc.oneof<fc.Arbitrary<string | Buffer>[]>(text, file, file)),
      { maxLength: 4 },
    )
    const good = fc.tuple(text, fc.constantFrom('A pixel', '')).map(
      ([alt, usual]): FuzzedBody => ({
        kind: 'form',
        fields: [
          ['alt_text', usual || alt],
          ['file', files[0]!],
        ],
      }),
    )
    return fc.oneof(
      { weight: 3, arbitrary: good },
      { weight: 6, arbitrary: fields.map((one): FuzzedBody => ({ kind: 'form', fields: one })) },
      raw,
      none,
    )
  }
  if (json === undefined) return fc.oneof({ weight: 8, arbitrary: none }, raw)
  const asJson = (value: unknown): FuzzedBody => ({ kind: 'text', text: JSON.stringify(value) ?? '' })
  return fc.oneof(
    { weight: 12, arbitrary: nearExample(json).map(asJson) },
    { weight: 4, arbitrary: fuzzedValue(json.schema).map(asJson) },
    { weight: 1, arbitrary: raw },
    { weight: 1, arbitrary: none },
  )
}

/** The document's example with a member or two of another value: what goes through all checks, or nearly so. */
function nearExample({ schema, example }: Content): fc.Arbitrary<unknown> {
  const { properties = {} } = resolved(schema)
  const members = Object.entries(example as object).map(([name, value]) => {
    const isReference = references.includes(name)
    return [
      name,
      fc.oneof(
        { weight: 20, arbitrary: fc.constantFrom(...(isReference ? near(value) : [value])) },
        { weight: 2, arbitrary: goodValue(properties[name]!, 1) },
        { weight: 1, arbitrary: fuzzedValue(properties[name]!, 1) },
        { weight: 1, arbitrary: fc.constant(undefined) },
      ),
    ]
  })
  return fc.record(Object.fromEntries(members) as Record<string, fc.Arbitrary<unknown>>)
}

/** Stand-ins for an example's references, whose objects don't exist: nothing, and the first object of each kind. */
function near(value: unknown): unknown[] {
  if (Array.isArray(value)) return [undefined, [], [1]]
  return typeof value === 'object' ? [undefined, {}] : [undefined, 1]
}

/** The beginnings of files, with nothing behind them. */
const files = [
  pixel,
  Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
  Buffer.from([0xff, 0xd8, 0xff, 0xe0]),
  Buffer.from('\0\0\0\x18ftypmp42', 'latin1'),
]

/** Any request, by operation. */
export const requestsOf: ReadonlyMap<string, fc.Arbitrary<FuzzedRequest>> = new Map(
  Object.entries(apiDocument.paths).flatMap(([path, byMethod]) =>
    Object.values(byMethod).map(({ operationId, parameters = [], requestBody }) => {
      const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!)
      const request = fc.record({
        operationId: fc.constant(operationId),
        path: fc.record(Object.fromEntries(names.map((name) => [name, ids]))),
        query: queryOf(parameters.filter((one) => one.in === 'query')),
        headers: fc
          .tuple(headers, jsonTypes)
          .map(([some, type]) => ({ ...some, 'Content-Type': type }) as Record<string, string>),
        body: bodyOf(requestBody?.content),
      })
      return [operationId, request] as const
    }),
  ),
)

/** A request of any operation; operations that leave nothing more to be done are rare. */
export const anyRequest: fc.Arbitrary<FuzzedRequest> = fc.oneof(
  ...[...requestsOf].map(([operationId, arbitrary]) => ({
    weight: /^(archive|delete)_/.test(operationId) ? 1 : 8,
    arbitrary,
  })),
)
