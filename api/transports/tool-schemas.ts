/**
 * The schemas that `tools/list` shows, made small: together with all other tools they have to stay below `toolsListTokensMax`.
 * Held by test/contract/mcp-tools.test.ts and test/contract/mcp-parity.test.ts.
 */
import { z } from 'zod'
import { eitherId, isId } from '../../schemas/lax.ts'
import type { Operation } from '../operations/define.ts'
import { type JsonSchema, jsonSchemaOf, type Override } from './json-schema.ts'
import { outlineOf, shareRepeated } from './schema-outline.ts'

/** The argument that makes a mutation's retry safe. */
export const keyArgument = 'idempotency_key'

export interface ToolSchemas {
  readonly input: JsonSchema
  readonly output: JsonSchema
  /** The operation answers a list, which is the `items` of the output. */
  readonly isList: boolean
}

/** Whatever earlier tools of the list have shown: later ones leave it out. */
interface SeenSoFar {
  /** Names of arguments and members with their descriptions, or with the schema of their items; those of each tool are added. */
  readonly texts: Set<string>
  /** Greatest bounds of arguments by name, as the last tool that has the argument has them. */
  readonly bounds: Map<string, string>
  /** The tool that shows the members of a definition. */
  readonly shownBy: ReadonlyMap<string, string>
}

/** @returns the schemas of each operation with a tool; to be called in the order of the list */
export function makeToolSchemas(all: readonly Operation[]): (operation: Operation) => ToolSchemas {
  const seen: SeenSoFar = { texts: new Set(), bounds: new Map(), shownBy: toolsByDefinition(all) }
  return (operation) => {
    const input = inputSchemaOf(operation, seen)
    return { input, ...outputSchemaOf(operation, all, seen) }
  }
}

/** @returns the arguments of all parts of the input, as one flat object */
function inputSchemaOf({ input, effect, tool, onlyWith }: Operation, { texts: seen, bounds }: SeenSoFar): JsonSchema {
  const properties: Record<string, unknown> = {}
  const required: string[] = []
  const definitions: Record<string, JsonSchema> = {}
  let isClosed = false
  for (const part of [input.path, input.query, input.body]) {
    if (part === undefined) continue
    const { root, $defs } = rootOf(part, 'input')
    for (const [name, schema] of Object.entries((root['properties'] ?? {}) as Record<string, JsonSchema>)) {
      if (onlyWith?.members.includes(name)) continue
      if (Object.hasOwn(properties, name) || name === keyArgument) throw new Error(`${tool} has two arguments ${name}`)
      const shown = plain(part === input.query ? oneOrMore(schema) : schema)
      const bounded = boundOnce(name, showMembersOnce(name, shown, seen), bounds)
      properties[name] = describeOnce(name, bounded, seen)
    }
    required.push(...((root['required'] ?? []) as string[]))
    Object.assign(definitions, $defs)
    isClosed ||= root['additionalProperties'] === false
  }
  if (effect !== 'read') {
    const description = 'Makes a retry safe: the same key with the same arguments gets the first answer again.'
    properties[keyArgument] = describeOnce(keyArgument, { type: 'string', description }, seen)
  }
  return {
    type: 'object',
    properties,
    ...(required.length > 0 && { required }),
    ...(isClosed && { additionalProperties: false }),
    ...(Object.keys(definitions).length > 0 && { $defs: definitions }),
  }
}

/** Leaves out a description that says the name alone, or that an earlier tool gave to an argument or a member of this name. */
function describeOnce(name: string, schema: JsonSchema, seen: Set<string>): JsonSchema {
  const { description, ...others } = schema
  const key = `${name} ${description}`
  if (seen.has(key) || `${description}`.toLowerCase() === `${name}.`) return others
  seen.add(key)
  return schema
}

/** The same for all members of an outline. */
function describeAll({ properties, items, $defs, ...schema }: JsonSchema, seen: Set<string>): JsonSchema {
  const each = (members: unknown) =>
    Object.fromEntries(
      Object.entries(members as Members).map(([name, one]) => [name, describeAll(describeOnce(name, one, seen), seen)]),
    )
  return {
    ...schema,
    ...(properties !== undefined && { properties: each(properties) }),
    ...(items !== undefined && { items: describeAll(items as JsonSchema, seen) }),
    ...($defs !== undefined && { $defs: each($defs) }),
  }
}

/** Leaves out greatest bounds, be it of items, that an argument of this name had in the last tool that has it. */
function boundOnce(name: string, schema: JsonSchema, last: Map<string, string>): JsonSchema {
  const { maxLength, maxItems, maximum, maxProperties, ...others } = schema
  const inside = (part: 'items' | 'additionalProperties') =>
    typeof others[part] === 'object' && { [part]: boundOnce(`${name} ${part}`, others[part] as JsonSchema, last) }
  const bounds = JSON.stringify({ maxLength, maxItems, maximum, maxProperties })
  const isNew = last.get(name) !== bounds
  last.set(name, bounds)
  return { ...others, ...inside('items'), ...inside('additionalProperties'), ...(isNew && JSON.parse(bounds)) }
}

/** Leaves out the members, be it of items, that an earlier tool showed of an argument of this name. */
function showMembersOnce(name: string, schema: JsonSchema, seen: Set<string>): JsonSchema {
  const items = schema['items'] as JsonSchema | undefined
  if (items !== undefined) return { ...schema, items: showMembersOnce(`${name} items`, items, seen) }
  const options = schema['anyOf'] as JsonSchema[] | undefined
  if (options !== undefined) return { ...schema, anyOf: options.map((one) => showMembersOnce(name, one, seen)) }
  if (schema['properties'] === undefined) return schema
  const { properties, required, ...others } = schema
  const key = `${name} ${JSON.stringify([properties, required])}`
  if (seen.has(key)) return others
  seen.add(key)
  const members = Object.entries(properties as Members).map(([member, shown]) => [
    member,
    describeOnce(member, shown, seen),
  ])
  return { ...schema, properties: Object.fromEntries(members) }
}

/** Without least bounds that go without saying, without examples, and with null as a type. */
function plain(whole: JsonSchema): JsonSchema {
  const { anyOf, minimum, minLength: _, minItems, items, properties, examples: __, ...schema } = whole
  const [one, other] = (anyOf ?? []) as JsonSchema[]
  const isNullable = one?.['type'] !== undefined && other?.['type'] === 'null'
  // A null, or an empty text, that is there without being sent goes without saying.
  if (schema['default'] === null || schema['default'] === '') delete schema['default']
  if (properties !== undefined) delete schema['additionalProperties']
  if (isNullable) return { ...plain(one), ...schema, type: [one['type'], 'null'].flat() }
  return {
    ...schema,
    ...(anyOf !== undefined && { anyOf: (anyOf as JsonSchema[]).map(withoutBounds) }),
    ...(items !== undefined && { items: plain(items as JsonSchema) }),
    ...(properties !== undefined && { properties: plainMembers(properties as Members) }),
    ...(Number(minimum) > 1 && { minimum }),
    ...(Number(minItems) > 1 && { minItems }),
  }
}

/** Members of a list's items, whose bounds no caller with a purpose comes near. */
function plainMembers(members: Members): Members {
  return Object.fromEntries(Object.entries(members).map(([name, member]) => [name, withoutBounds(member)]))
}

function withoutBounds(whole: JsonSchema): JsonSchema {
  const { maximum: _, maxLength: __, maxItems: ___, maxProperties: ____, ...others } = plain(whole)
  const { additionalProperties: _____, ...schema } = others
  return schema
}

/** A list of a query may be one text. Its bounds aren't shown: no caller with a purpose comes near them. */
function oneOrMore({ type, description, items, ...more }: JsonSchema): JsonSchema {
  if (type !== 'array') return { type, ...(description !== undefined && { description }), ...more }
  const { maxLength: _, ...value } = items as JsonSchema
  return { type: ['string', 'array'], ...(description !== undefined && { description }), items: value }
}

/**
 * Levels of members in output schemas. A changing tool shows one: a reading tool of the same object describes the rest.
 */
const levels = { read: 2, change: 1 }
/** Reading tools with long answers whose members tell by their names what is in them: one level. */
const selfExplanatory = [
  'svc.get_company_profile',
  'svc.get_post',
  'svc.preview_post',
  'svc.list_links',
  'svc.get_link',
  'svc.bot_analytics',
]
/** Members of long answers: what is in them tells itself by its name. */
const selfExplanatoryMembers = [
  'snippet',
  'thread',
  'review',
  'engagement',
  'web_vitals',
  'web_vital_pages',
  'web_vital_series',
]
const levelsOf = ({ tool }: Operation) => (selfExplanatory.includes(tool!) ? levels.change : levels.read)

/** Members that stay of an object that another tool shows. */
const membersKept = ['id', 'status']

/** Tells whether two tools show the same kind of object: so much of a row's members must be there, as they are there. */
const sharedMembersMin = 0.75

type Members = Readonly<Record<string, JsonSchema>>

/** @param all the operations: what one tool shows of an object, others only refer to */
function outputSchemaOf(
  operation: Operation,
  all: readonly Operation[],
  { texts: seen, shownBy }: SeenSoFar,
): Omit<ToolSchemas, 'input'> {
  const { effect, tool: own } = operation
  const { root, $defs: definitions } = shownOutputOf(operation)
  const isRead = effect === 'read'
  const refer = (name: string) => {
    const tool = shownBy.get(name)
    return tool === undefined || tool === own ? undefined : { type: 'object', description: `As in \`${tool}\`.` }
  }
  const how = isRead
    ? { levels: levelsOf(operation), selfExplanatory: selfExplanatoryMembers, refer }
    : { levels: levels.change, isDescribed: false }
  const outline = outlineOf(root, { definitions, ...how })
  if (root['type'] === 'array') {
    const items = describeAll(outline, seen)
    return { output: { type: 'object', properties: { items } }, isList: true }
  }
  return { output: describeAll(shareRepeated(withoutListed(operation, outline, all)), seen), isList: false }
}

/** The tool that shows the members of each definition: one that lists such objects, else the first one that has them. */
function toolsByDefinition(all: readonly Operation[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  const isList = ({ output }: Operation) => output instanceof z.ZodArray
  const reading = all.filter(({ effect, tool }) => effect === 'read' && tool !== undefined)
  for (const operation of [...reading.filter(isList), ...reading.filter((one) => !isList(one))]) {
    const { tool } = operation
    const { root, $defs: definitions } = shownOutputOf(operation)
    const refer = (name: string, isShown: boolean) => {
      if (isShown && !found.has(name)) found.set(name, tool!)
      return undefined
    }
    outlineOf(root, { definitions, levels: levelsOf(operation), refer })
  }
  return found
}

/** Leaves out the members that a row of a list has too, and says of which. */
function withoutListed(operation: Operation, outline: JsonSchema, all: readonly Operation[]): JsonSchema {
  const own = plainMembersOf(operation.output)
  for (const { tool, output, effect } of all) {
    const isSource = output instanceof z.ZodArray || (operation.effect !== 'read' && output === operation.output)
    if (effect !== 'read' || tool === undefined || tool === operation.tool || !isSource) continue
    const listed = Object.entries(plainMembersOf(output instanceof z.ZodArray ? (output.element as z.ZodType) : output))
    const common = listed.filter(([name, schema]) => JSON.stringify(own[name]) === JSON.stringify(schema))
    if (common.length < listed.length * sharedMembersMin) continue
    const isKept = (name: string) => membersKept.includes(name) || !common.some(([member]) => member === name)
    const members = Object.entries(outline['properties'] as Members).filter(([name]) => isKept(name))
    const description = `And all of \`${tool}\`.`
    return {
      ...outline,
      description,
      properties: Object.fromEntries(
        members.map(([name, schema]) => [
          name,
          membersKept.includes(name) ? { type: schema['type'] ?? 'string' } : schema,
        ]),
      ),
    }
  }
  return outline
}

/** Kept, because each tool's output is compared with the rows of all lists: making them anew takes half of all tools. */
const membersOfOutput = new WeakMap<z.ZodType, Members>()

function plainMembersOf(output: z.ZodType): Members {
  const kept = membersOfOutput.get(output)
  if (kept !== undefined) return kept
  const { root, $defs: definitions } = rootOf(output, 'output')
  const members = (outlineOf(root, { definitions, levels: 1, isDescribed: false })['properties'] ?? {}) as Members
  membersOfOutput.set(output, members)
  return members
}

/** The answer's schema, without the members that the tool has no room for. */
function shownOutputOf({ output, onlyWith }: Operation) {
  const { root, $defs } = rootOf(output, 'output')
  // A list has no members.
  if (onlyWith === undefined || root['properties'] === undefined) return { root, $defs }
  const members = Object.entries(root['properties'] as Members).filter(([name]) => !onlyWith.members.includes(name))
  return { root: { ...root, properties: Object.fromEntries(members) } as JsonSchema, $defs }
}

/** The schema itself, also where it has an `id` and is a reference into its own definitions. */
function rootOf(schema: z.ZodType, io: 'input' | 'output') {
  const { $defs, ...root } = jsonSchemaOf(schema, io, withObjectIds)
  const id = typeof root['$ref'] === 'string' ? root['$ref'].split('/').at(-1)! : undefined
  if (id === undefined) return { root, $defs }
  const { [id]: named, ...others } = $defs
  return { root: named!, $defs: others }
}

/** A strict client sends an object id only where the type has texts. The instructions of the server say it of all ids at once. */
const withObjectIds: Override = ({ zodSchema, jsonSchema }) => {
  if (!isId(zodSchema)) return
  jsonSchema['type'] = ['integer', 'string']
  if (jsonSchema['description'] === eitherId) delete jsonSchema['description']
}
