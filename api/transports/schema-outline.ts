/**
 * Makes tools' output schemas short: a model reads all of them before its first call. The whole list has to stay small
 * (`toolsListTokensMax`). The outline keeps names, types, closed sets and descriptions, of members down to some level.
 * Everything valid by the schema is valid by its outline. The OpenAPI document has the whole.
 */
import type { JsonSchema } from './json-schema.ts'

/** Longer closed sets show in answers themselves. */
const shownValuesMax = 6

/** Every object with an id has it, as the instructions of the server say. */
const objectId = 'object_id'

export interface Outlining {
  /** Definitions that `$ref`s lead to. */
  readonly definitions: Readonly<Record<string, JsonSchema>>
  /** How many objects within one another have their members shown; lists count for nothing. */
  readonly levels: number
  /** Members whose own members aren't shown, as their names say what is in them. */
  readonly selfExplanatory?: readonly string[]
  /** Whether descriptions are kept. Default: yes. */
  readonly isDescribed?: boolean
  /**
   * Returns a replacement for a definition; undefined: the definition.
   * @param isShown whether its members would be shown
   */
  readonly refer?: (name: string, isShown: boolean) => JsonSchema | undefined
}

/** A schema without what a model can do without before its first call. */
export function outlineOf(schema: JsonSchema, how: Outlining): JsonSchema {
  const { $ref: ref, anyOf, type, enum: values, description, items, properties } = schema
  const { definitions, levels, selfExplanatory = [], isDescribed = true, refer } = how
  if (typeof ref === 'string') {
    const name = ref.split('/').at(-1)!
    return refer?.(name, levels > 0) ?? outlineOf(definitions[name]!, how)
  }
  const shown = (inner: unknown, below: number) => outlineOf(inner as JsonSchema, { ...how, levels: below })
  const membersOf = (members: object) =>
    Object.fromEntries(
      Object.entries(members)
        .filter(([name]) => name !== objectId)
        .map(([name, member]) => [name, shown(member, selfExplanatory.includes(name) ? 0 : levels - 1)]),
    )
  const isListed = values !== undefined && (values as unknown[]).length <= shownValuesMax
  return {
    // Listed texts say their type.
    ...(type !== undefined && !(isListed && type === 'string') && { type }),
    ...(anyOf !== undefined && choiceOf((anyOf as JsonSchema[]).map((one) => shown(one, levels)))),
    ...(isListed && { enum: values }),
    ...(isDescribed && description !== undefined && { description }),
    ...(items !== undefined && itemsOf(shown(items, levels))),
    ...(properties !== undefined && levels > 0 && { properties: membersOf(properties as object) }),
  }
}

/** A list of texts, or of objects that aren't shown, is shown as a list: its name tells what it has. */
function itemsOf(items: JsonSchema): JsonSchema {
  const { type, ...more } = items
  const isPlain = (type === 'string' || type === 'object') && Object.keys(more).length === 0
  return isPlain ? {} : { items }
}

/** Something or null, in one. */
function choiceOf(choices: JsonSchema[]): JsonSchema {
  const [first, second] = choices
  // Members need not be there: an object without any is one of the first kind too.
  if (choices.length === 2 && isRow(first) && isRow(second) && isBare(second!)) return first!
  const [one, ...more] = choices.filter(({ type }) => type !== 'null')
  const isPlain = typeof one?.['type'] === 'string' && one['enum'] === undefined && more.length === 0
  return isPlain ? { ...one, type: [one['type'], 'null'] } : { anyOf: choices }
}

function isSchema(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length > 0
}

/** Below this many bytes a reference costs about as much as what it leads to. */
const sharedBytesMin = 90

/** Puts objects that a schema has more than once into its `$defs`, and references to them in their places. */
export function shareRepeated(schema: JsonSchema): JsonSchema {
  const counts = new Map<string, number>()
  const count = (value: unknown): void => {
    if (!isSchema(value)) return
    if (isRow(value)) {
      const text = JSON.stringify(value)
      counts.set(text, (counts.get(text) ?? 0) + 1)
    }
    for (const inner of Object.values(value as object)) count(inner)
  }
  count(schema)
  const shared = [...counts].filter(([text, count]) => count > 1 && text.length >= sharedBytesMin)
  if (shared.length === 0) return schema
  const names = new Map(shared.map(([text], at) => [text, `Row${at + 1}`]))
  const referring = (value: unknown, isRoot = false): unknown => {
    if (Array.isArray(value)) return value.map((each) => referring(each))
    if (typeof value !== 'object' || value === null) return value
    const name = isRow(value) && !isRoot ? names.get(JSON.stringify(value)) : undefined
    if (name !== undefined) return { $ref: `#/$defs/${name}` }
    return Object.fromEntries(Object.entries(value).map(([member, each]) => [member, referring(each)]))
  }
  const definitions = shared.map(([text]) => [names.get(text)!, referring(JSON.parse(text), true)])
  return { ...(referring(schema, true) as JsonSchema), $defs: Object.fromEntries(definitions) }
}

function isRow(value: unknown): boolean {
  return isSchema(value) && (value as JsonSchema)['type'] === 'object' && 'properties' in (value as JsonSchema)
}

function isBare({ properties }: JsonSchema): boolean {
  return Object.keys(properties as object).length === 0
}
