import { beforeAll, describe, expect, test } from 'vitest'
import type { Operation } from '../../api/operations/define.ts'
import { operations } from '../../api/operations/registry.ts'
import { revokeApiKey } from '../../postgres/tables/workspaces/api-keys.ts'
import { makeSecretKey, makeSharedToken } from '../../schemas/keys.ts'
import { scopes, viewScope } from '../../schemas/scopes.ts'
import { answerFault } from '../support/answer-fault.ts'
import { makeKey, makeWorkspace, setUpApi, type TestWorkspace } from '../support/api.ts'
import {
  type Asker,
  exampleBody,
  filledPath,
  goodBody,
  type Made,
  madePath,
  makeAccount,
  makers,
  objectNames,
  shownOf,
} from '../support/api-requests.ts'

const { stores, api, mine } = setUpApi({ sharesWorkspace: true })
let others: TestWorkspace
/** Keys of mine, by what they may. */
const alone = new Map<string, string>()
const allBut = new Map<string, string>()
/** The token of a shared link of mine. */
let shared: string
/** Headers of no good key. */
let bad: readonly string[]

beforeAll(async () => {
  others = await makeWorkspace(stores)
  for (const scope of scopes) {
    const only = await makeKey(stores, mine.workspaceId, { scopes: [scope] })
    const rest = await makeKey(stores, mine.workspaceId, { scopes: scopes.filter((one) => one !== scope) })
    alone.set(scope, only.apiKey)
    allBut.set(scope, rest.apiKey)
  }
  shared = (await makeKey(stores, mine.workspaceId, { scopes: [viewScope] })).apiKey
  const revoked = await makeKey(stores, mine.workspaceId)
  await revokeApiKey(stores.pg, revoked.id)
  const expired = await makeKey(stores, mine.workspaceId, { expiresAt: new Date(Date.now() - 1000) })
  const good = mine.apiKey
  bad = [
    '',
    'Bearer',
    'Bearer ',
    good,
    `Basic ${good}`,
    `Bearer ${good} ${good}`,
    `Bearer ${good}x`,
    `Bearer ${good.slice(1)}`,
    `Bearer ${good.slice(0, -7)}`,
    `Bearer ${'a'.repeat(4000)}`,
    // A wrong checksum, and an unknown key.
    `Bearer ${good.slice(0, -1)}${good.endsWith('0') ? '1' : '0'}`,
    `Bearer ${makeSecretKey()}`,
    `Bearer ${makeSharedToken()}`,
    ...[mine.trackingKey, revoked.apiKey, expired.apiKey].map((key) => `Bearer ${key}`),
  ]
})

const asker = ({ workspaceId, apiKey }: TestWorkspace): Asker => ({ api, stores, workspaceId, key: apiKey })

/** A number that no row of any table has. */
const nowhere = 4_000_000_000_000

type Values = Readonly<Made>

async function send(
  operation: Operation,
  key: string,
  values: Values,
  changes: Readonly<Record<string, unknown>> = {},
) {
  return sendAs(operation, `Bearer ${key}`, filledPath(operation, values), goodBody(operation, values, changes))
}

async function sendAs(operation: Operation, authorization: string | undefined, path: string, init: RequestInit) {
  const headersSent = { ...init.headers, ...(authorization !== undefined && { Authorization: authorization }) }
  const response = await api.ask(path, { method: operation.http.method, ...init, headers: headersSent })
  expect(await answerFault(response.clone(), shownOf(operation))).toBeUndefined()
  const headers = Object.fromEntries(response.headers)
  for (const name of ['x-request-id', 'date', 'x-ratelimit-remaining', 'x-ratelimit-reset', 'x-ratelimit-limit']) {
    delete headers[name]
  }
  return { status: response.status, headers, body: await response.text() }
}

/** The path of an object that isn't there: what a good key gets for it is no matter here. */
const nobodys = (operation: Operation) => Object.fromEntries(objectNames(operation).map((name) => [name, nowhere]))

/** A new object for each call: some take it away, or are no longer possible once they were done. */
const own = (operation: Operation) => madePath(operation, asker(mine))

describe.each(operations.map((operation) => [operation.name, operation] as const))('%s', (_, operation) => {
  test('is open to its scope alone, and done with it', async () => {
    expect((await send(operation, alone.get(operation.scope)!, await own(operation))).status).toBe(200)
  })

  test('is closed to all other scopes together, with the missing one named', async () => {
    const key = allBut.get(operation.scope)!
    const none = filledPath(operation, nobodys(operation))
    const answers = [
      await send(operation, key, await own(operation)),
      // Before the input is looked at.
      await sendAs(operation, `Bearer ${key}`, `${none}?days=x`, {}),
    ]
    for (const answer of answers) {
      expect(answer.status).toBe(403)
      expect(answer.body).toBe(`{"detail":"API key lacks the required scope: ${operation.scope}"}`)
    }
  })

  test(`is ${operation.isShared ? 'open' : 'closed'} to a shared link`, async () => {
    const { status, body } = await send(operation, shared, await own(operation))
    if (operation.isShared) return expect(status).toBe(200)
    expect([status, body]).toEqual([403, `{"detail":"API key lacks the required scope: ${operation.scope}"}`])
  })

  // A look at all kinds of bad keys is that of one operation with each scope.
  const ofScope = operations.find(({ scope }) => scope === operation.scope)
  const tried = () => (operation === ofScope ? bad : bad.slice(-3))
  test('is closed alike to every bad key, whether or not the object is there, before anything else is looked at', async () => {
    const asked = [
      [await own(operation), ''],
      [nobodys(operation), '?days=x&limit=x&hours=0'],
    ] as const
    const answers = await Promise.all(
      asked.flatMap(([values, query]) => {
        const path = filledPath(operation, values) + query
        return [undefined, ...tried()].map((header) => sendAs(operation, header, path, goodBody(operation, values)))
      }),
    )
    const [first] = answers
    expect(first).toMatchObject({ status: 401, body: '{"detail":"Not authenticated"}' })
    expect(first!.headers).toMatchObject({ 'www-authenticate': 'Bearer', 'content-type': 'application/json' })
    for (const answer of answers) expect(answer).toEqual(first)
  })

  // The refusal of a body names the id: the test of references below compares it.
  const isInBody = operation.input.path === undefined && operation.effect !== 'read'
  if (objectNames(operation).length > 0 && !isInBody)
    test("answers for another workspace's object as for none: status, body, headers", async () => {
      const theirs = await madePath(operation, asker(others))
      for (const key of [mine.apiKey, alone.get(operation.scope)!]) {
        const none = await send(operation, key, nobodys(operation))
        expect(none.status).toBe(404)
        expect(await send(operation, key, theirs)).toEqual(none)
      }
      // And it is there: its own workspace is answered another way.
      expect((await send(operation, others.apiKey, theirs)).status).not.toBe(404)
    })
})

test('a shared link opens the figures and what draws them, and no tool', async () => {
  const open = operations.filter(({ isShared }) => isShared).map(({ name }) => name)
  expect(open).toEqual([
    'workspace.get',
    'overview.read',
    'breakdown.read',
    'pages.read',
    'page_flow.read',
    'event_names.list',
    'funnel.read',
    'goals.read',
    'retention.read',
    'bots.read',
    'note.list',
    'segment.list',
    'saved_funnel.list',
  ])
  for (const method of ['initialize', 'tools/list', 'tools/call']) {
    const params = { name: 'svc.get_workspace', arguments: {} }
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const init = { method: 'POST', key: shared, headers: { 'Content-Type': 'application/json' }, body }
    expect([method, (await api.ask('/mcp', init)).status]).toEqual([method, 403])
  }
})

/** Members of bodies that refer to objects, with what makes one. */
const referring: Readonly<Record<string, (asker: Asker) => Promise<number>>> = {
  post_id: makers['post_id']!,
  social_account_id: makeAccount,
  media_id: makers['media_id']!,
  media_ids: makers['media_id']!,
  social_account_ids: makeAccount,
}

const references = operations.flatMap((operation) => {
  const example = shownOf(operation).requestBody?.content['application/json']?.example
  const names = Object.keys((example as object | undefined) ?? {}).filter((name) => Object.hasOwn(referring, name))
  return names.map((name) => [operation.name, name, operation] as const)
})

test('each of them is in the example of a body', () => {
  expect(new Set(references.map(([, name]) => name))).toEqual(new Set(Object.keys(referring)))
})

test.each(references)(
  "%s with the %s of another workspace's object is answered as with that of none",
  async (_, name, operation) => {
    const theirs = await referring[name]!(asker(others))
    const sendWith = async (id: number) => {
      const value = name.endsWith('s') ? [id] : id
      const { status, headers, body } = await send(operation, mine.apiKey, await own(operation), { [name]: value })
      delete headers['content-length']
      // Parts of times may be the same number.
      return { status, headers, body: body.replaceAll(new RegExp(`\\b${id}\\b(?![-:.])`, 'g'), 'ID') }
    }
    const none = await sendWith(nowhere)
    expect(none.status === 422 || none.body.includes('"valid":false')).toBe(true)
    expect(await sendWith(theirs)).toEqual(none)
    expect(exampleBody(operation)).toBeDefined()
  },
)
