/** Numbers that no row can have, and NUL, wherever a request takes a number: never another row's answer, never a 500. */
import { beforeAll, describe, expect, test } from 'vitest'
import type { Operation } from '../../api/operations/define.ts'
import { operations } from '../../api/operations/registry.ts'
import { setUpApi } from '../support/api.ts'
import {
  type ApiSchema,
  type Asker,
  exampleBody,
  filledPath,
  goodBody,
  makers,
  pathNames,
  resolved,
  shownOf,
} from '../support/api-requests.ts'

/** Where the ids come from that paths and bodies name. */
const tables = ['posts', 'links', 'media', 'webhook_endpoints', 'webhook_deliveries', 'social_accounts']
/** Beyond it readers of JSON round. */
const largest = Number.MAX_SAFE_INTEGER

const { stores, api, mine } = setUpApi({ sharesWorkspace: true })

/** There are objects of the first ids, and of the largest that JSON carries exactly: both near to what is asked for. */
beforeAll(async () => {
  const asker: Asker = { api, stores, workspaceId: mine.workspaceId, key: mine.apiKey }
  for (const first of [1, largest - 20]) {
    for (const table of tables)
      await stores.pg.query(`SELECT setval(pg_get_serial_sequence('${table}', 'id'), ${first}, false)`)
    for (const make of Object.values(makers)) await make(asker)
  }
  for (const table of tables)
    await stores.pg.query(`SELECT setval(pg_get_serial_sequence('${table}', 'id'), 1000, false)`)
})

async function ask(operation: Operation, path: string, init: RequestInit = goodBody(operation, {})) {
  const response = await api.ask(path, { method: operation.http.method, key: mine.apiKey, ...init })
  return { status: response.status, text: await response.text() }
}

const objectTypes: Readonly<Record<string, string>> = {
  webhook_id: 'webhook_endpoint',
  delivery_id: 'webhook_delivery',
}
const typeOf = (name: string) => objectTypes[name] ?? name.replace(/_id$/, '')

const named = operations.map((operation) => [operation.name, operation] as const)
const withPath = named.filter(([, operation]) => pathNames(operation).length > 0)

/** 2^53 and what lies beyond, what wraps to 1 in 32 and 64 bits, and no ids at all. */
const nobodys = [
  '9007199254740992',
  '9007199254740993',
  '9007199254740995',
  '4294967297',
  '9223372036854775807',
  '9223372036854775808',
  '18446744073709551617',
  '99999999999999999999',
  '-0',
  '0',
  '-1',
  '-9007199254740991',
]
/** One operation with each id is asked with all of them, the others with a few. */
const few = ['9007199254740993', '9223372036854775808', '-1', 'twelve', '1.5', '%00', '"1\\u0000"', '{}']
const firstWith = (name: string) => withPath.find(([, operation]) => pathNames(operation)[0] === name)![1]
const noNumbers = [
  'twelve',
  'thing_1',
  '1_post',
  '1e400',
  '1e0',
  'Infinity',
  'NaN',
  '1.5',
  '0x1',
  '%00',
  '1%00',
  '%001',
]

describe.each(withPath)('the path of %s', (_, operation) => {
  const [name] = pathNames(operation) as [string]
  const tried = (list: readonly string[]) =>
    operation === firstWith(name) ? list : list.filter((id) => few.includes(id))
  const pathOf = (id: string) => filledPath(operation, Object.fromEntries(pathNames(operation).map((one) => [one, id])))

  test('with a number that no row can have is that of no object, by number and by object id', async () => {
    const none = await ask(operation, pathOf('4000000000000'))
    expect(none.status).toBe(404)
    for (const id of tried(nobodys)) {
      expect([id, await ask(operation, pathOf(id))]).toEqual([id, none])
      expect([id, await ask(operation, pathOf(`${typeOf(name)}_${id}`))]).toEqual([id, none])
    }
  })

  test('with what is no number is 422', async () => {
    for (const id of tried(noNumbers).flatMap((text) => [text, `${typeOf(name)}_${text}`])) {
      const { status, text } = await ask(operation, pathOf(id))
      expect([id, status]).toEqual([id, 422])
      expect(text).toContain(`"loc":["path","${name}"]`)
    }
  })

  // Ids of replays are hashes of sessions: they have no neighbours.
  const table = tables.find((one) => one.startsWith(typeOf(name)))
  if (operation.effect === 'read' && table !== undefined)
    test('and its neighbours are there', async () => {
      const ids = await stores.pg.query<{ id: number }>(`SELECT id FROM ${table} ORDER BY id`)
      expect([ids[0]!.id, ids.at(-1)!.id >= largest - 20]).toEqual([1, true])
      const found = await api.ask(pathOf(String(ids.at(-1)!.id)), { key: mine.apiKey })
      expect(found.status).toBe(200)
    })
})

interface Place {
  readonly name: string
  readonly isList: boolean
}

/** As JSON. */
const noIds = ['1e400', '-1e400', '1.5', '"\\u0000"', '"1\\u0000"', '"99999999999999999999"', '"1e400"', '{}', '[[1]]']

/** The members of the operation's body that are integers, or lists of them. */
function integersOf(operation: Operation): Place[] {
  const schema = shownOf(operation).requestBody?.content['application/json']?.schema
  if (schema === undefined) return []
  const { properties = {} } = resolved(schema)
  return Object.entries(properties).flatMap(([name, member]): Place[] => {
    const kinds = (member.anyOf ?? [member]).map(resolved)
    if (kinds.some(isInteger)) return [{ name, isList: false }]
    const isList = kinds.some(({ items }) => items !== undefined && isInteger(resolved(items)))
    return isList ? [{ name, isList }] : []
  })
}

function isInteger({ type }: ApiSchema): boolean {
  return [type].flat().includes('integer')
}

const places = operations.flatMap((operation) =>
  integersOf(operation).map((place) => [operation.name, place.name, operation, place] as const),
)

test.each(places)(
  '%s with the %s is refused what is no id, or finds nothing',
  async (_, name, operation, { isList }) => {
    const isFirst = operation === places.find(([, other]) => other === name)![2]
    for (const literal of [...nobodys, ...noIds].filter((one) => isFirst || few.includes(one))) {
      const marked = { ...exampleBody(operation), [name]: isList ? ['MARK'] : 'MARK' }
      const body = JSON.stringify(marked).replace('"MARK"', literal)
      const path = filledPath(operation, { post_id: 1, feed_id: 1 })
      const { status, text } = await ask(operation, path, { headers: { 'Content-Type': 'application/json' }, body })
      if (status === 200) expect([literal, JSON.parse(text)]).toMatchObject([literal, { valid: false }])
      else expect([literal, status, text]).toEqual([literal, 422, expect.stringContaining(`"loc":["body","${name}"`)])
      if (nobodys.includes(literal)) expect([literal, text]).toEqual([literal, expect.stringContaining(' not found"')])
    }
  },
)

test('there are such members', () => {
  const names = new Set<string>(places.map(([, name]) => name))
  expect([...names].sort()).toEqual(['media_id', 'media_ids', 'post_id', 'social_account_id', 'social_account_ids'])
})

const parameters = operations.flatMap((operation) => {
  const { parameters: all = [] } = shownOf(operation)
  return all.filter(({ in: part }) => part === 'query').map(({ name }) => [operation.name, name, operation] as const)
})

const isFirstOf = (name: string, operation: Operation) =>
  operation === parameters.find(([, other]) => other === name)![2]

test.each(parameters)('%s ?%s with NUL is 422', async (_, name, operation) => {
  for (const value of isFirstOf(name, operation) ? ['%00', '1%00', '%00a'] : ['1%00']) {
    const path = filledPath(operation, Object.fromEntries(pathNames(operation).map((one) => [one, 1])))
    const { status, text } = await ask(operation, `${path}?${name}=${value}`)
    expect([value, status]).toEqual([value, 422])
    expect(text).toContain(`"loc":["query","${name}"`)
  }
})

test('NUL in the value, and in the name, of a parameter that nobody knows changes nothing', async () => {
  expect((await api.ask('/v1/workspace?nothing=%00&%00=1&a%00b', { key: mine.apiKey })).status).toBe(200)
})
