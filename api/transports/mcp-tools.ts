/**
 * Operations as tools for models: what `tools/list` shows of each, and how its flat arguments become path, query and body.
 * All of it is read off the operation. Held by test/contract/mcp-tools.test.ts.
 */
import { isRepeated } from '../../schemas/lax.ts'
import type { Effect, Operation, OperationInput } from '../operations/define.ts'
import { isFileOutput } from '../operations/file-output.ts'
import type { Toolset } from '../operations/toolsets.ts'
import type { RawInput } from '../operations/validate.ts'
import type { Params } from './json-rpc.ts'
import type { JsonSchema } from './json-schema.ts'
import { keyArgument, makeToolSchemas, type ToolSchemas } from './tool-schemas.ts'

/** A tool as `tools/list` shows it. */
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
  /** The handler's return value as an object: lists are its `items`. */
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

/**
 * Tools of the default list and of some toolsets.
 * @returns them by name, in the order of the operations
 */
export function makeTools(
  operations: readonly Operation[],
  chosen: ReadonlySet<Toolset> = new Set(),
): ReadonlyMap<string, Tool> {
  const tools = new Map<string, Tool>()
  const all = operations.map((operation) => withinToolsets(operation, chosen))
  const schemasOf = makeToolSchemas(all)
  for (const operation of all) {
    if (operation.tool !== undefined) tools.set(operation.tool, makeTool(operation, all, schemasOf))
  }
  return tools
}

/** An operation as a client sees it: without its tool, and with all that the tool has, as its toolsets say. */
function withinToolsets(operation: Operation, chosen: ReadonlySet<Toolset>): Operation {
  const { tool, onlyWith, ...others } = operation
  const isTool = tool !== undefined && (operation.toolset === undefined || chosen.has(operation.toolset))
  const isWhole = onlyWith === undefined || chosen.has(onlyWith.toolset)
  return { ...others, ...(isTool && { tool }), ...(!isWhole && { onlyWith }) }
}

function makeTool(
  operation: Operation,
  all: readonly Operation[],
  schemasOf: (operation: Operation) => ToolSchemas,
): Tool {
  const { tool: name, input, output, effect, isIdempotent } = operation
  if (input.form !== undefined || isFileOutput(output))
    throw new Error(`${name} has files, which no tool takes or gives`)
  const inPath = new Set(Object.keys(input.path?.shape ?? {}))
  // Also parameters that the list has no room to show. If they were dropped, nobody would see that a filter is missing.
  const inQuery = new Set(Object.keys(input.query?.shape ?? {}))
  const takesKey = effect !== 'read'
  const { input: inputSchema, output: outputSchema, isList } = schemasOf(operation)
  return {
    operation,
    shown: {
      name: name!,
      title: titleOf(name!),
      description: describe(operation, all),
      inputSchema,
      outputSchema,
      annotations: { ...hints[effect], ...(isIdempotent === false && { idempotentHint: false }) },
    },
    inputOf(args) {
      const members = Object.entries(args)
      const isOther = (argument: string) =>
        !inPath.has(argument) && !inQuery.has(argument) && !(takesKey && argument === keyArgument)
      const chosen = (isWanted: (argument: string) => boolean) =>
        Object.fromEntries(members.filter(([argument]) => isWanted(argument)))
      return {
        path: chosen((argument) => inPath.has(argument)),
        query: withLists(
          input.query,
          // Models in OpenAI's strict mode send every argument, as null if unset. A query can't hold a null.
          chosen((argument) => inQuery.has(argument) && args[argument] !== null),
        ),
        body: input.body === undefined ? undefined : chosen(isOther),
        idempotencyKey: takesKey ? (args[keyArgument] ?? undefined) : undefined,
        keyArgument,
      }
    },
    structured: (body) => (isList ? { items: body } : body),
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

/** A list of a query may be given as the one text that it has. */
function withLists(query: OperationInput['query'], args: Params): Params {
  const members = Object.entries(args).map(([name, value]) => {
    const isOne = typeof value === 'string' && isRepeated(query?.shape[name])
    return [name, isOne ? [value] : value]
  })
  return Object.fromEntries(members)
}
