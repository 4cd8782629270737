/** Each operation with a tool, by REST and by MCP: the same answer, the same refusals, one audit row each. */
import { randomUUID } from 'node:crypto'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { beforeAll, describe, expect, test } from 'vitest'
import type { z } from 'zod'
import type { Operation } from '../../api/operations/define.ts'
import { operations } from '../../api/operations/registry.ts'
import { toolsets } from '../../api/operations/toolsets.ts'
import { makeTools, type Tool } from '../../api/transports/mcp-tools.ts'
import { isRepeated } from '../../schemas/lax.ts'
import { scopes } from '../../schemas/scopes.ts'
import { makeKey, makeWorkspace, setUpApi, type TestWorkspace } from '../support/api.ts'
import { type Asker, exampleBody, filledPath, goodBody, madePath, objectNames } from '../support/api-requests.ts'
import { callTool, connectClient } from '../support/mcp.ts'

const { stores, api, mine } = setUpApi({ hasYearlyParts: true })
let others: TestWorkspace
beforeAll(async () => {
  others = await makeWorkspace(stores)
})
const tools = [...makeTools(operations).values()]
const ofToolsets = [...makeTools(operations, new Set(toolsets)).values()].filter(({ operation }) => operation.toolset)
const ajv = new Ajv2020({ strict: false, validateFormats: false })

const asker = ({ workspaceId, apiKey }: TestWorkspace): Asker => ({ api, stores, workspaceId, key: apiKey })
type Values = Readonly<Record<string, unknown>>

/** By REST, as of `who`. */
async function byRest(
  { operation }: Tool,
  who: { apiKey: string },
  values: Values,
  changes: Values = {},
  headers = {},
) {
  const init = goodBody(operation, values, changes)
  const { method } = operation.http
  const path = filledPath(operation, values as Record<string, string>)
  const response = await api.ask(path, { method, key: who.apiKey, ...init, headers: { ...init.headers, ...headers } })
  const body = (await response.json()) as unknown
  return { status: response.status, body, replayed: response.headers.get('idempotent-replayed') }
}

/** The same by MCP. */
function byMcp(
  { operation, shown }: Tool,
  who: { apiKey: string },
  values: Values,
  changes: Values = {},
  more: Values = {},
) {
  const args = { ...values, ...exampleBody(operation), ...changes, ...more }
  return callTool(api, who.apiKey, shown.name, args, {}, operation.toolset)
}

/** Removes the differences between two objects that were made one after the other. */
function withoutOwn(value: unknown): unknown {
  const text = JSON.stringify(value)
    .replace(/"(?:\w+_)?id":\d+|"object_id":"\w+"|"(?:media|link)_ids":\[\d+\]/g, '"id":0')
    // A profile has all that it was given before.
    .replace(/"images":\[[^\]]*\]/g, '"images":[]')
    .replace(/"email":"[^"]+"/g, '"email":"own"')
    .replace(/"(secret|event_id)":"(?:whsec|evt)_[^"]+"/g, '"$1":"own"')
    .replace(/(?<=[Mm]ade ?|https:\/\/example\.com\/)\d+|(?<=svc-domain=)[\w-]+/g, 'own')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'T')
    .replace(/(?<="attribution_key":"|\/media\/|\/l\/|svc_link_id=|"svc_link_id":")\w+/g, 'own')
  return JSON.parse(text)
}

async function auditRows(action: string) {
  return stores.pg.query<{
    interface: string
    action: string
    actor_name: string
    ip_hash: string | null
    metadata: object
  }>(
    `SELECT interface, action, actor_name, ip_hash, metadata FROM audit_events
     WHERE workspace_id = $1 AND action = $2 ORDER BY id`,
    [mine.workspaceId, action],
  )
}

const structured = (tool: Tool, body: unknown) => tool.structured(body) as Record<string, unknown>
const isMutation = ({ effect }: Operation) => effect !== 'read'

describe.each([...tools, ...ofToolsets].map((tool) => [tool.shown.name, tool] as const))('%s', (_, tool) => {
  const { operation, shown } = tool

  test('gives what REST gives, valid by its schema, and the same as text; a read has no audit row', async () => {
    const values = await madePath(operation, asker(mine))
    const rest = await byRest(tool, mine, values)
    expect(rest.status).toBe(200)
    const mcp = await byMcp(tool, mine, isMutation(operation) ? await madePath(operation, asker(mine)) : values)
    expect(mcp.status).toBe(200)
    if (!isMutation(operation)) expect(await auditRows(operation.name)).toEqual([])
    const { structuredContent, content, isError } = mcp.result!
    expect(isError).toBeUndefined()
    expect(withoutOwn(structuredContent)).toEqual(withoutOwn(structured(tool, rest.body)))
    expect(content).toEqual([{ type: 'text', text: JSON.stringify(structuredContent) }])
    const validate = ajv.compile(shown.outputSchema)
    expect(validate(structuredContent), JSON.stringify(validate.errors)).toBe(true)
    const accept = ajv.compile({ ...shown.inputSchema })
    const args = { ...(await madePath(operation, asker(mine))), ...exampleBody(operation) }
    expect(accept(args), JSON.stringify(accept.errors)).toBe(true)
  })
})

/** Parameters of queries. */
const tried = new Set<z.ZodType>()

describe.each(tools.map((tool) => [tool.shown.name, tool] as const))('%s of the default list', (_, tool) => {
  const { operation } = tool

  test('is refused as by REST: without the scope, in another workspace, where nothing is, with bad arguments', async () => {
    const { apiKey } = await makeKey(stores, mine.workspaceId, {
      scopes: scopes.filter((one) => one !== operation.scope),
    })
    const values = await madePath(operation, asker(mine))
    const rest = await byRest(tool, { apiKey }, values)
    expect(rest.status).toBe(403)
    // Before the arguments are looked at.
    for (const changes of [{}, { title: 5, days: 'x', idempotency_key: 5 }]) {
      const { status, error } = await byMcp(tool, { apiKey }, values, changes)
      expect([status, error]).toEqual([200, { code: -32003, message: (rest.body as { detail: string }).detail }])
    }

    const bad: [Values, Values][] = []
    const ids = objectNames(operation)
    if (ids.length > 0) {
      const nowhere = Object.fromEntries(ids.map((name) => [name, 4_000_000_000_000]))
      const noIds = Object.fromEntries(ids.map((name) => [name, 'x']))
      bad.push([await madePath(operation, asker(others)), {}], [nowhere, {}], [noIds, {}])
    }
    const members = Object.keys(exampleBody(operation) ?? {})
    if (members.length > 0) bad.push([values, Object.fromEntries(members.map((name) => [name, { no: 'such' }]))])
    for (const [path, changes] of bad) {
      const byHttp = await byRest(tool, mine, path, changes)
      expect([404, 409, 422]).toContain(byHttp.status)
      const { result } = await byMcp(tool, mine, path, changes)
      expect(result).toEqual({ content: [{ type: 'text', text: JSON.stringify(byHttp.body) }], isError: true })
    }
  })

  const parameters = Object.entries((operation.input.query?.shape ?? {}) as Record<string, z.ZodType>)
  const own = parameters.filter(([name]) => !operation.onlyWith?.members.includes(name))
  if (own.length > 0)
    test('reads its query from arguments', async () => {
      // The filters that several tools share are tried with the first of them, and one of them with each.
      for (const [name, parameter] of own.filter(([name, parameter]) => name === 'country' || !tried.has(parameter))) {
        tried.add(parameter)
        const value = { limit: 1000, days: 1000, hours: 1000, before_id: 0 }[name] ?? 'nonsense'
        const isList = isRepeated(parameter)
        const byHttp = await api.ask(`${operation.http.path}?${name}=${value}`, { key: mine.apiKey })
        const said = await byHttp.text()
        const { result } = await byMcp(tool, mine, {}, { [name]: isList ? [value] : value })
        if (byHttp.status === 200) expect(result!.structuredContent).toBeDefined()
        // A value that is a text in a query is a number in arguments.
        else expect(result!.content[0]!.text).toBe(said.replaceAll(`"${value}"`, JSON.stringify(value)))
        expect(result!.isError ?? false).toBe(byHttp.status !== 200)
        // A list may be given as its one text.
        if (!isList) continue
        const { result: ofText } = await byMcp(tool, mine, {}, { [name]: value })
        expect(withoutOwn(ofText)).toEqual(withoutOwn(result))
      }
    })

  if (isMutation(operation)) {
    test('is done once under an idempotency_key, also where the other interface used it, with one audit row that names its interface', async () => {
      const values = await madePath(operation, asker(mine))
      const [one, other] = [randomUUID(), randomUUID()]
      const rest = await byRest(tool, mine, values, {}, { 'Idempotency-Key': one })
      const replayed = await byMcp(tool, mine, values, {}, { idempotency_key: one })
      expect(replayed.result!.structuredContent).toEqual(structured(tool, rest.body))
      expect(replayed.headers.get('idempotent-replayed')).toBe('true')

      const anew = await madePath(operation, asker(mine))
      const mcp = await byMcp(tool, mine, anew, {}, { idempotency_key: other })
      const again = await byRest(tool, mine, anew, {}, { 'Idempotency-Key': other })
      expect(again).toEqual({ status: 200, body: mcp.result!.structuredContent, replayed: 'true' })
      const rows = await auditRows(operation.name)
      expect(rows.map((row) => row.interface)).toEqual(['rest', 'mcp'])
      expect(withoutOwn({ ...rows[1], interface: '' })).toEqual(withoutOwn({ ...rows[0], interface: '' }))

      const next = tools.find((each) => isMutation(each.operation) && each !== tool)!
      const refused = await byMcp(next, mine, await madePath(next.operation, asker(mine)), {}, { idempotency_key: one })
      const message = 'Idempotency-Key was used with a different request'
      expect([refused.status, refused.error]).toEqual([200, { code: -32009, message }])
    })
  }
})

test('a refusal of the operation itself is kept under the key, as by REST', async () => {
  const ask = () =>
    callTool(api, mine.apiKey, 'svc.delete_post', { post_id: 4_000_000_000_000, idempotency_key: 'gone' })
  const [first, again] = [await ask(), await ask()]
  expect(first.result?.isError).toBe(true)
  expect(again.result).toEqual(first.result)
  expect(again.headers.get('idempotent-replayed')).toBe('true')
})

test('svc.schedule_post reschedules a scheduled post, which REST refuses', async () => {
  const tool = tools.find(({ shown }) => shown.name === 'svc.reschedule_post')!
  const { post_id } = await madePath(tool.operation, asker(mine))
  const scheduled_at = '2037-01-01T00:00:00Z'
  const { result } = await callTool(api, mine.apiKey, 'svc.schedule_post', { post_id, scheduled_at })
  expect(result!.structuredContent).toMatchObject({ status: 'scheduled', scheduled_at: '2037-01-01T00:00:00.000Z' })
})

test('the official SDK’s own client lists every tool with a schema that it takes, calls one, and tells refusals from answers', async () => {
  const client = await connectClient(api.url, mine.apiKey)
  expect(client.getServerVersion()).toMatchObject({ name: 'svc' })
  expect(client.getInstructions()).toContain('svc.create_post')
  const { tools } = await client.listTools()
  expect(tools.map(({ name }) => name)).toEqual(
    operations.flatMap(({ tool, toolset }) => (toolset ? [] : (tool ?? []))),
  )
  const { structuredContent } = await client.callTool({ name: 'svc.get_workspace' })
  expect(structuredContent).toMatchObject({ id: mine.workspaceId })
  await client.ping()
  await expect(client.callTool({ name: 'svc.nothing' })).rejects.toMatchObject({ code: -32602 })
  expect(await client.callTool({ name: 'svc.get_post', arguments: { post_id: 1 } })).toEqual({
    content: [{ type: 'text', text: '{"detail":"Post not found"}' }],
    isError: true,
  })
  await client.close()
  await expect(connectClient(api.url, 'svc_sk_wrong')).rejects.toThrow()
})
