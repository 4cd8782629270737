/**
 * Operations as tools for models: what `tools/list` shows of each, and how its flat arguments become path, query and body.
 * All of it is read off the operation. Held by test/contract/mcp-tools.test.ts.
 */
import type { z } from 'zod'
import { idempotencyKeyLengthMax } from '../../schemas/limits/api-limits.ts'
import type { Effect, Operation } from '../operations/define.ts'
import { isFileOutput } from '../operations/file-output.ts'
import type { RawInput } from '../operations/validate.ts'
import type { Params } from './json-rpc.ts'
import { type JsonSchema, jsonSchemaOf } from './json-schema.ts'
import { outlineOf } from './schema-outline.ts'

/** What `tools/list` shows. */
export interface ShownTool {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly inputSchema: JsonSchema
  readonly outputSchema: JsonSchema
  readonly annotations: Hints
}

export interface Tool {
  readonly operation: Operation
  readonly shown: ShownTool
  /** Puts each argument where the operation reads it. */
  inputOf(args: Params): RawInput
  /** What a handler returned, as an object: lists are its `items`. */
  structured(body: unknown): unknown
}

interface Hints {
  readonly readOnlyHint: boolean
  /** False for what only adds. */
  readonly destructiveHint: boolean
  /** A repeat with the same arguments changes nothing more. */
  readonly idempotentHint: boolean
}

const hints: Readonly<Record<Effect, Hints>> = {
  read: { readOnlyHint: true, destructiveHint: false, idempotentHint: true },
  create: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
  update: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
  delete: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
}

const keyArgument = 'idempotency_key'

/** By name, in the order of the operations. */
export function makeTools(operations: readonly Operation[]): ReadonlyMap<string, Tool> {
  const tools = new Map<string, Tool>()
  for (const operation of operations) {
    if (operation.tool !== undefined) tools.set(operation.tool, makeTool(operation, operations))
  }
  return tools
}

function makeTool(operation: Operation, all: readonly Operation[]): Tool {
  const { tool: name, input, output, effect } = operation
  if (input.form !== undefined || isFileOutput(output))
    throw new Error(`${name} has files, which no tool takes or gives`)
  const inPath = new Set(Object.keys(input.path?.shape ?? {}))
  const inQuery = new Set(Object.keys(input.query?.shape ?? {}))
  const takesKey = effect !== 'read'
  const outputSchema = outputSchemaOf(operation)
  return {
    operation,
    shown: {
      name: name!,
      title: titleOf(name!),
      description: describe(operation, all),
      inputSchema: inputSchemaOf(operation),
      outputSchema: outputSchema.schema,
      annotations: hints[effect],
    },
    inputOf(args) {
      const members = Object.entries(args)
      const isOther = (argument: string) =>
        !inPath.has(argument) && !inQuery.has(argument) && !(takesKey && argument === keyArgument)
      const chosen = (isWanted: (argument: string) => boolean) =>
        Object.fromEntries(members.filter(([argument]) => isWanted(argument)))
      return {
        path: chosen((argument) => inPath.has(argument)),
        query: chosen((argument) => inQuery.has(argument)),
        body: input.body === undefined ? undefined : chosen(isOther),
        idempotencyKey: takesKey && Object.hasOwn(args, keyArgument) ? args[keyArgument] : undefined,
      }
    },
    structured: (body) => (outputSchema.isList ? { items: body } : body),
  }
}

/** `svc.list_posts`: `List posts`. */
function titleOf(name: string): string {
  const words = name.slice('svc.'.length).replaceAll('_', ' ')
  return words[0]!.toUpperCase() + words.slice(1)
}

/** The text of the operation, with tools in place of the routes that it names. */
function describe({ summary, description }: Operation, all: readonly Operation[]): string {
  const text = description === undefined ? summary : `${summary} ${description}`
  return text.replace(/`([A-Z]+) (\/v1\/[^`]*)`/g, (route, method: string, path: string) => {
    const named = all.find(({ http }) => http.method === method && http.path === path)
    return named?.tool === undefined ? route : `\`${named.tool}\``
  })
}

function inputSchemaOf({ input, effect, tool }: Operation): JsonSchema {
  const properties: Record<string, unknown> = {}
  const required: string[] = []
  const definitions: Record<string, JsonSchema> = {}
  let isClosed = false
  for (const part of [input.path, input.query, input.body]) {
    if (part === undefined) continue
    const { root, $defs } = rootOf(part, 'input')
    for (const [name, schema] of Object.entries((root['properties'] ?? {}) as object)) {
      if (Object.hasOwn(properties, name) || name === keyArgument) throw new Error(`${tool} has two arguments ${name}`)
      properties[name] = schema
    }
    required.push(...((root['required'] ?? []) as string[]))
    Object.assign(definitions, $defs)
    isClosed ||= root['additionalProperties'] === false
  }
  if (effect !== 'read') {
    const description = 'Makes a retry safe: the same key with the same arguments gets the first answer again.'
    properties[keyArgument] = { type: 'string', maxLength: idempotencyKeyLengthMax, description }
  }
  return {
    type: 'object',
    properties,
    ...(required.length > 0 && { required }),
    ...(isClosed && { additionalProperties: false }),
    ...(Object.keys(definitions).length > 0 && { $defs: definitions }),
  }
}

/** Levels of members in output schemas. What changes something names its own: a reading tool of the same thing describes them. */
const levels = { read: 2, change: 1 }

function outputSchemaOf({ output, effect }: Operation): { readonly schema: JsonSchema; readonly isList: boolean } {
  const { root, $defs } = rootOf(output, 'output')
  const outline = effect === 'read' ? outlineOf(root, $defs, levels.read) : outlineOf(root, $defs, levels.change, false)
  if (root['type'] !== 'array') return { schema: outline, isList: false }
  return { schema: { type: 'object', properties: { items: outline }, required: ['items'] }, isList: true }
}

/** The schema itself, also where it has an `id` and is a reference into its own definitions. */
function rootOf(schema: z.ZodType, io: 'input' | 'output') {
  const { $defs, ...root } = jsonSchemaOf(schema, io)
  const id = typeof root['$ref'] === 'string' ? root['$ref'].split('/').at(-1)! : undefined
  if (id === undefined) return { root, $defs }
  const { [id]: named, ...others } = $defs
  return { root: named!, $defs: others }
}
