/** The tools of `tools/list`: the contract's, each made from its operation, and small all together. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { operations } from '../../api/operations/registry.ts'
import { readToolsets, type Toolset, toolsets } from '../../api/operations/toolsets.ts'
import { makeTools, type ShownTool } from '../../api/transports/mcp-tools.ts'
import { toolsetTokensMax, toolsListTokensMax } from '../../schemas/limits/api-limits.ts'

/** An estimate: a token of English or JSON has four bytes. */
const tokenBytes = 4
const contract = readFileSync(new URL('mcp-tools.txt', import.meta.url), 'utf8')
const wanted = [...contract.matchAll(/`(svc\.\w+)`/g)].map(([, name]) => name!)

/**
 * Operations without a tool: they take or give the bytes of a file, which JSON can't hold, or more than a model can read.
 * A model makes links of what it knows, not of a file.
 */
const withoutTool = [
  'media.create',
  'media_file.get',
  'replay.list',
  'replay.get',
  'click_map.read',
  'link.import_preview',
  'link.import',
]

/** Updates that deliver or generate again when they are repeated. */
const worksAgain = [
  'svc.redeliver_webhook_delivery',
  'svc.refresh_company_profile',
  'svc.update_company_profile_sources',
  'svc.check_feed',
  'svc.verify_short_domain',
]

const tools = [...makeTools(operations).values()]
const names = tools.map(({ shown }) => shown.name)

/** Those that our own decisions add are in docs/mcp-tools.md, which docs-mcp.test.ts compares with the operations. */
test('every tool of the contract is there', () => {
  expect(wanted).toHaveLength(19)
  expect(names).toEqual(expect.arrayContaining(wanted))
})

test('every operation is a tool of the list or of a toolset, except those that say why not', () => {
  const inList = operations.filter(({ toolset }) => toolset === undefined)
  expect(names).toEqual(inList.flatMap(({ tool }) => tool ?? []))
  expect(
    operations
      .filter(({ tool }) => tool === undefined)
      .map(({ name }) => name)
      .sort(),
  ).toEqual(withoutTool.sort())
  for (const toolset of toolsets) {
    const more = [...makeTools(operations, new Set([toolset])).keys()].filter((name) => !names.includes(name as never))
    expect(more).toEqual(operations.flatMap((one) => (one.toolset === toolset ? one.tool! : [])))
    expect(more.length).toBeGreaterThan(0)
  }
})

test('an address names toolsets, in any order and repeated, or all of them', () => {
  expect(readToolsets('')).toEqual(new Set())
  expect(readToolsets('toolsets=links,analytics&toolsets=links')).toEqual(new Set(['analytics', 'links']))
  expect(readToolsets('other=1&toolsets=all')).toEqual(new Set(toolsets))
  expect(readToolsets('toolsets=links,Links')).toEqual({ unknown: 'Links' })
})

test('a list of a query may be one text, by its schema too', () => {
  const { inputSchema } = tools.find(({ shown }) => shown.name === 'svc.analytics_breakdown')!.shown
  expect((inputSchema['properties'] as Record<string, unknown>)['country']).toEqual({
    type: ['string', 'array'],
    items: { type: 'string' },
  })
})

test('an id may be an object id, by its schema too', () => {
  const types = tools.flatMap(({ shown }) =>
    Object.entries(shown.inputSchema['properties'] as Record<string, { type: unknown; items?: { type: unknown } }>)
      // An actor has no object id.
      .filter(([name]) => /_ids?$/.test(name) && name !== 'actor_id')
      .map(([name, { type, items }]) => [shown.name, name, items?.type ?? type]),
  )
  expect(types.length).toBeGreaterThan(30)
  expect(types.filter(([, , type]) => ![type].flat().includes('string'))).toEqual([])
  expect(types).toContainEqual(['svc.create_link', 'post_id', ['integer', 'string', 'null']])
})

test('what an earlier tool says of an argument or a member is not repeated', () => {
  const texts: string[] = []
  const collect = (schema: unknown, name: string): void => {
    if (typeof schema !== 'object' || schema === null) return
    const { description, ...parts } = schema as { description?: unknown }
    if (typeof description === 'string' && name !== 'items') texts.push(`${name} ${description}`)
    for (const [member, part] of Object.entries(parts)) collect(part, member)
  }
  for (const { shown } of tools)
    for (const schema of [shown.inputSchema, shown.outputSchema])
      for (const members of [schema['properties'], schema['$defs']]) collect(members, '')
  expect(texts.filter((text) => text.startsWith('idempotency_key'))).toHaveLength(1)
  expect(texts.filter((text, at) => texts.indexOf(text) !== at)).toEqual([])
  const updateLink = tools.find(({ shown }) => shown.name === 'svc.update_link')!.shown.inputSchema
  expect(updateLink['properties']).toMatchObject({ targets: { items: { type: 'object' } } })
  expect(JSON.stringify(updateLink)).not.toContain('countries')
})

test('a tool refers to the list that shows the members of its object', () => {
  const outputOf = (name: string) => tools.find(({ shown }) => shown.name === name)!.shown.outputSchema
  expect(outputOf('svc.archive_link')).toEqual({
    type: 'object',
    properties: { id: { type: 'integer' } },
    description: 'And all of `svc.list_links`.',
  })
  expect(outputOf('svc.create_webhook_endpoint')['properties']).toHaveProperty('secret')
  expect(outputOf('svc.person_journey')['properties']).toMatchObject({
    person: { type: 'object', description: 'As in `svc.list_people`.' },
  })
})

test('without its toolset a tool shows neither the parameters nor the members that it has with it, and takes them', () => {
  const some = tools.filter(({ operation }) => operation.onlyWith !== undefined)
  const names = ['svc.unschedule_post', 'svc.archive_post', 'svc.delete_post', 'svc.analytics_events', 'svc.list_links']
  expect(some.map(({ shown }) => shown.name)).toEqual(names)
  const events = some.find(({ shown }) => shown.name === 'svc.analytics_events')!
  expect(events.inputOf({ interval: 'day', days: 7 }).query).toEqual({ interval: 'day', days: 7 })
  for (const { shown, operation } of some) {
    const { toolset, members } = operation.onlyWith!
    const namesOf = ({ inputSchema, outputSchema }: ShownTool) =>
      [inputSchema, outputSchema].flatMap((one) => Object.keys(one['properties'] as object))
    expect(namesOf(shown).filter((name) => members.includes(name))).toEqual([])
    const whole = makeTools(operations, new Set([toolset])).get(shown.name)!
    expect(namesOf(whole.shown)).toEqual(expect.arrayContaining([...members]))
  }
})

test(`the list has at most ${toolsListTokensMax} tokens, and each toolset adds at most ${toolsetTokensMax}`, () => {
  const tokensOf = (chosen: readonly Toolset[]) => {
    const listed = [...makeTools(operations, new Set(chosen)).values()].map(({ shown }) => shown)
    return Buffer.byteLength(JSON.stringify({ tools: listed })) / tokenBytes
  }
  expect(tokensOf([])).toBeLessThanOrEqual(toolsListTokensMax)
  const added = toolsets.map((toolset) => tokensOf([toolset]) - tokensOf([]))
  expect(added.filter((tokens) => tokens > toolsetTokensMax)).toEqual([])
})

test.each([...makeTools(operations, new Set(toolsets)).values()].map((tool) => [tool.shown.name, tool] as const))(
  '%s says all of itself',
  (name, { shown, operation }) => {
    expect(name).toMatch(/^svc\.[a-z]+(_[a-z]+)*$/)
    expect(shown.title).toMatch(/^[A-Z][a-z]+( [a-z]+)*$/)
    expect(shown.description).toContain(operation.summary)
    // A model has tools, no routes.
    expect(shown.description).not.toMatch(/\/v1\/|Idempotency-Key/)
    for (const schema of [shown.inputSchema, shown.outputSchema]) {
      expect(schema['type']).toBe('object')
    }
    // An answer that a list shows whole may only refer to it.
    const answered = Object.keys(shown.outputSchema['properties'] as object).length
    expect(answered > 0 || /^And all of `svc\./.test(String(shown.outputSchema['description']))).toBe(true)
    const isRead = operation.effect === 'read'
    expect(Object.hasOwn(shown.inputSchema['properties'] as object, 'idempotency_key')).toBe(!isRead)
    expect(shown.annotations).toEqual({
      readOnlyHint: isRead,
      destructiveHint: operation.effect === 'update' || operation.effect === 'delete',
      idempotentHint: operation.effect !== 'create' && !worksAgain.includes(name),
    })
  },
)

test('an argument of two meanings, and a tool with files, are refused at the start', () => {
  const [listPosts] = operations.filter(({ tool }) => tool === 'svc.list_posts')
  const media = operations.find(({ input }) => input.form !== undefined)!
  const twice = { ...listPosts!, input: { ...listPosts!.input, body: listPosts!.input.query! } }
  expect(() => makeTools([twice])).toThrow('two arguments')
  expect(() => makeTools([{ ...media, tool: 'svc.upload_media' }])).toThrow('files')
})
