/**
 * The output schemas of tools, made short: a model reads all of them before its first call, and the whole list has to stay small
 * (`toolsListTokensMax`). What is kept: names, types, closed sets and descriptions, of members down to some level.
 * Everything valid by the schema is valid by its outline. The OpenAPI document has the whole.
 */
import type { JsonSchema } from './json-schema.ts'

/**
 * @param definitions what `$ref`s lead to
 * @param levels how many objects within one another have their members shown; lists count for nothing
 * @param isDescribed whether descriptions are kept
 */
export function outlineOf(
  schema: JsonSchema,
  definitions: Readonly<Record<string, JsonSchema>>,
  levels: number,
  isDescribed = true,
): JsonSchema {
  const { $ref: ref, anyOf, type, enum: values, description, items, properties, additionalProperties } = schema
  if (typeof ref === 'string') return outlineOf(definitions[ref.split('/').at(-1)!]!, definitions, levels, isDescribed)
  const shown = (inner: unknown, below: number) => outlineOf(inner as JsonSchema, definitions, below, isDescribed)
  const membersOf = (members: object) =>
    Object.fromEntries(Object.entries(members).map(([name, member]) => [name, shown(member, levels - 1)]))
  return {
    ...(type !== undefined && { type }),
    ...(anyOf !== undefined && choiceOf((anyOf as JsonSchema[]).map((one) => shown(one, levels)))),
    ...(values !== undefined && { enum: values }),
    // That an object id is its type and its id is seen in each.
    ...(isDescribed && description !== undefined && !String(description).endsWith('_<id>`') && { description }),
    ...(items !== undefined && { items: shown(items, levels) }),
    ...(properties !== undefined && levels > 0 && { properties: membersOf(properties as object) }),
    ...(isSchema(additionalProperties) && { additionalProperties: shown(additionalProperties, levels) }),
  }
}

/** Something or null, in one. */
function choiceOf(choices: JsonSchema[]): JsonSchema {
  const [one, ...more] = choices.filter(({ type }) => type !== 'null')
  const isPlain = typeof one?.['type'] === 'string' && one['enum'] === undefined && more.length === 0
  return isPlain ? { ...one, type: [one['type'], 'null'] } : { anyOf: choices }
}

function isSchema(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length > 0
}
