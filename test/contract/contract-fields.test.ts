import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { type ApiSchema, apiDocument, resolved } from '../support/api-requests.ts'
import { type Field, fieldsOfProse, fieldsOfTable, objectFaults } from '../support/contract-fields.ts'

const tables = readFileSync(new URL('field-tables.txt', import.meta.url), 'utf8')

/** The text under a heading, up to the next. */
function textUnder(heading: string): string {
  const [, text] = tables.split(`\n### ${heading}\n`)
  if (text === undefined) throw new Error(`there is no ${heading}`)
  return text.split('\n### ')[0]!
}

function tableUnder(heading: string): Field[] {
  const lines = textUnder(heading)
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) =>
      line
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim()),
    )
  return fieldsOfTable(lines.slice(2), lines[0]!)
}

/** `Required: a (int), b. Optional: c (string).`, the requirement behind. */
function linkFields(): Field[] {
  const [, required, optional] = /Required: (.+?)\. Optional: (.+?)\.\n/.exec(textUnder('Tracked link (response)'))!
  return fieldsOfProse(`${required} required; ${optional} optional`)
}

/** Every field is optional and may be null, else as in a create. */
function updateFields(): Field[] {
  return tableUnder('Post create (request)').map((field) => ({ ...field, isRequired: false, isNullable: true }))
}

type Place = 'request' | 'answer' | 'item' | 'target'

/** The contract's tables with their subjects: the requests and answers of these operations. */
const held: readonly (readonly [string, readonly Field[], readonly string[]])[] = [
  ['Workspace', tableUnder('Workspace (response)'), ['answer of GET /v1/workspace']],
  ['Social account', tableUnder('Social account (response)'), ['item of GET /v1/social-accounts']],
  ['Media asset', tableUnder('Media asset (response)'), ['item of GET /v1/media', 'answer of POST /v1/media']],
  [
    'Post',
    tableUnder('Post (response)'),
    [
      'item of GET /v1/posts',
      'answer of POST /v1/posts',
      'answer of GET /v1/posts/{post_id}',
      'answer of PATCH /v1/posts/{post_id}',
      ...['schedule', 'reschedule', 'unschedule', 'archive'].map(
        (verb) => `answer of POST /v1/posts/{post_id}/${verb}`,
      ),
    ],
  ],
  ['Post target', tableUnder('Post target (nested in a post)'), ['target of GET /v1/posts/{post_id}']],
  [
    'Post create',
    tableUnder('Post create (request)'),
    ['request of POST /v1/posts', 'request of POST /v1/posts/preview'],
  ],
  ['Post update', updateFields(), ['request of PATCH /v1/posts/{post_id}']],
  [
    'Schedule request',
    tableUnder('Schedule request'),
    ['request of POST /v1/posts/{post_id}/schedule', 'request of POST /v1/posts/{post_id}/reschedule'],
  ],
  ['Tracked link create', tableUnder('Tracked link create (request)'), ['request of POST /v1/links']],
  [
    'Tracked link',
    linkFields(),
    ['item of GET /v1/links', 'answer of POST /v1/links', 'answer of GET /v1/links/{link_id}'],
  ],
]

/** Fields that ours have beyond the contract's, by its subject or the overview's member. */
const added: Readonly<Record<string, string>> = {
  Workspace: 'object_id currency',
  'Social account': 'object_id',
  'Media asset': 'object_id',
  Post: 'object_id thread first_comment review feed_id engagement performance',
  'Post target': 'object_id engagement',
  'Post create': 'thread first_comment',
  'Post update': 'thread first_comment updated_at',
  'Schedule request': 'updated_at',
  'Tracked link create': 'key domain expires_at expired_url targets tags password preview',
  'Tracked link':
    'object_id domain expires_at expired_url targets tags has_password preview clicks click_counts click_lists visits revenue',
  top_sources: 'channel',
  traffic_series: 'bounce_rate average_session_seconds',
  recent_events: 'object_id',
}
const addedTo = (subject: string) => added[subject]?.split(' ')

function schemaAt(endpoint: string, place: Place): ApiSchema {
  const [method, path] = endpoint.split(' ') as [string, string]
  const shown = apiDocument.paths[path]![method.toLowerCase()]!
  if (place === 'request') return resolved(shown.requestBody!.content['application/json']!.schema)
  const answer = resolved(shown.responses['200']!.content!['application/json']!.schema)
  if (place === 'target') return resolved(answer.properties!['targets']!.items!)
  return place === 'item' ? resolved(answer.items!) : answer
}

const cases = held.flatMap(([name, fields, places]) =>
  places.map((where) => {
    const [place, endpoint] = where.split(' of ') as [Place, string]
    return { name, endpoint, place, fields, schema: schemaAt(endpoint, place) }
  }),
)

describe.each(cases)('$name, the $place of $endpoint', ({ name, fields, place, schema }) => {
  test('has the fields of the contract: types, null, requirement, defaults, bounds', () => {
    expect(objectFaults(fields, schema, place === 'request', addedTo(name))).toEqual([])
  })

  if (name === 'Tracked link create')
    test('rejects unknown fields', () => {
      expect(schema.additionalProperties).toBe(false)
    })
})

const overview = textUnder('Analytics overview (response)')
const overviewSchema = schemaAt('GET /v1/analytics/overview', 'answer')

test('the overview has the required and the optional members of the contract, and no others', () => {
  const [, required, optional] = /Required members: (.+?)\. Optional members: (.+?)\.\n/.exec(overview)!
  const names = (text: string) => [...text.matchAll(/`(\w+)`/g)].map(([, name]) => name!)
  expect([...overviewSchema.required!].sort()).toEqual(names(required!).sort())
  expect(Object.keys(overviewSchema.properties!).sort()).toEqual([...names(required!), ...names(optional!)].sort())
})

const nested = [...overview.matchAll(/^\| ([^|]+?) \| ([^|]+) \|$/gm)].slice(1).flatMap(([, title, text]) => {
  const members = [...title!.matchAll(/`(\w+)`/g)].map(([, member]) => member!)
  // The one row that doesn't name its member.
  return (members.length > 0 ? members : ['recommendations']).map((member) => [member, fieldsOfProse(text!)] as const)
})

test.each(nested)('%s of the overview has the fields of the contract', (member, fields) => {
  const schema = resolved(overviewSchema.properties![member]!)
  expect(fields.length).toBeGreaterThan(2)
  const object = schema.type === 'array' ? schema.items! : schema
  expect(objectFaults(fields, object, false, addedTo(member))).toEqual([])
})

describe('the check of fields can fail', () => {
  const fields = fieldsOfTable(
    [['a', 'string or null', 'no', '`x`', 'length 1 to 5']],
    ['Field', 'Type', 'Required', 'Default', 'Bounds'],
  )
  const good = { anyOf: [{ type: 'string', minLength: 1, maxLength: 5 }, { type: 'null' }], default: 'x' }
  const faultsOf = (a: ApiSchema, more: ApiSchema = {}) =>
    objectFaults(fields, { type: 'object', properties: { a }, ...more }, true)

  test('on nothing where all is well', () => {
    expect(faultsOf(good)).toEqual([])
  })

  test.each<[string, ApiSchema, ApiSchema?]>([
    ['type', { ...good, anyOf: [{ type: 'integer', minLength: 1, maxLength: 5 }, { type: 'null' }] }],
    ['null', { type: 'string', minLength: 1, maxLength: 5, default: 'x' }],
    ['default', { ...good, default: 'y' }],
    ['least length', { ...good, anyOf: [{ type: 'string', maxLength: 5 }, { type: 'null' }] }],
    ['greatest length', { ...good, anyOf: [{ type: 'string', minLength: 1, maxLength: 6 }, { type: 'null' }] }],
    ['requirement', good, { required: ['a'] }],
    ['another field', good, { properties: { a: good, b: good } }],
    ['a missing field', good, { properties: {} }],
  ])('%s', (_, schema, more) => {
    expect(faultsOf(schema, more)).toHaveLength(1)
  })
})
