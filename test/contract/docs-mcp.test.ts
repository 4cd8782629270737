/** docs/mcp-tools.md shows every tool, and each of its calls gives what the page shows. docs/mcp.md names every code. */
import { expect, test } from 'vitest'
import { operations } from '../../api/operations/registry.ts'
import { type Toolset, toolsets } from '../../api/operations/toolsets.ts'
import { rpcCodes } from '../../api/transports/json-rpc.ts'
import { connectSocialAccount } from '../../postgres/tables/accounts/social-accounts.ts'
import { toolsetTokensMax, toolsListTokensMax } from '../../schemas/limits/api-limits.ts'
import { setUpApi } from '../support/api.ts'
import { differences } from '../support/doc-examples.ts'
import { readDoc, tableOf } from '../support/docs.ts'
import { callTool } from '../support/mcp.ts'
import { pixel } from '../support/media-files.ts'

const { stores, api, mine } = setUpApi()
const page = readDoc('docs/mcp-tools.md')

interface Shown {
  readonly name: string
  readonly args: Record<string, unknown>
  readonly kind: 'result' | 'refusal'
  readonly answer: unknown
}

const block = /^```json call\n([\s\S]*?)^```\n\n```json (result|refusal)\n([\s\S]*?)^```/gm
const shown: Shown[] = [...page.matchAll(block)].map(([, call, kind, answer]) => {
  const { name, arguments: args } = JSON.parse(call!) as { name: string; arguments: Record<string, unknown> }
  return { name, args, kind: kind as Shown['kind'], answer: JSON.parse(answer!) }
})

/** The ids that the page's stand for; `id` itself is matched by `differences`, which learns it there. */
function withIds(value: unknown, ids: ReadonlyMap<number, number>, name = ''): unknown {
  if (typeof value === 'number') return /_ids?$/.test(name) ? (ids.get(value) ?? value) : value
  if (Array.isArray(value)) return value.map((each) => withIds(each, ids, name))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([member, each]) => [member, withIds(each, ids, member)]))
}

test('every tool of the default list has a section with a call', () => {
  const tools = operations.flatMap(({ tool, toolset }) => (toolset === undefined ? (tool ?? []) : []))
  const sections = [...page.matchAll(/^### (svc\.\w+)$/gm)].map(([, name]) => name!)
  expect([...sections].sort(), 'add the tool to docs/mcp-tools.md').toEqual([...tools].sort())
  expect(sections.filter((name) => !shown.some((one) => one.name === name))).toEqual([])
})

test('every call gives what the page shows', async () => {
  const account = { workspaceId: mine.workspaceId, platform: 'mastodon' as const, handle: '@acme', displayName: 'Acme' }
  await connectSocialAccount(stores.pg, { ...account, connectionType: 'simulated', externalId: null, metadata: {} })
  const form = new FormData()
  form.set('file', new Blob([pixel], { type: 'image/png' }), 'pixel.png')
  form.set('alt_text', 'A dot')
  expect((await api.ask('/v1/media', { method: 'POST', key: mine.apiKey, body: form })).status).toBe(200)
  const ids = new Map<number, number>()
  for (const { name, args, kind, answer } of shown) {
    const { result } = await callTool(api, mine.apiKey, name, withIds(args, ids) as Record<string, unknown>)
    expect([name, result?.isError ?? false]).toEqual([name, kind === 'refusal'])
    const said = kind === 'refusal' ? JSON.parse(result!.content[0]!.text) : result!.structuredContent
    // Objects of two kinds may have the same number, but not within one answer.
    const met = new Map<number, number>()
    expect([name, differences(withIds(answer, ids), said, met)]).toEqual([name, []])
    for (const [onPage, actual] of met) expect(ids.set(onPage, ids.get(onPage) ?? actual).get(onPage)).toBe(actual)
  }
})

test('docs/mcp.md has every toolset with its tools, every code and the bounds of the lists', () => {
  const text = readDoc('docs/mcp.md')
  const sets = tableOf(text, '## Toolsets').map(([name, tools]) => [name, tools!.match(/svc\.\w+/g)])
  const toolsOf = (name: Toolset) => operations.flatMap(({ tool, toolset }) => (toolset === name ? tool! : []))
  expect(sets).toEqual(toolsets.map((name) => [`\`${name}\``, toolsOf(name)]))
  expect(text).toContain(`adds at most ${toolsetTokensMax.toLocaleString('en')}`)
  const listed = tableOf(text, '## Refusals').flatMap(([, , code]) => (code === '' ? [] : [Number(code)]))
  expect(new Set(listed)).toEqual(new Set(Object.values(rpcCodes)))
  expect(text).toContain(`below ${toolsListTokensMax.toLocaleString('en')} tokens`)
})
