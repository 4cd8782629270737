/** From zod's schemas to JSON Schema (2020-12), as both the OpenAPI document and the tools show them. */
import { z } from 'zod'

export type JsonSchema = Record<string, unknown>
/** Changes the JSON schema that was made of a zod schema. */
export type Override = (about: { zodSchema: z.core.$ZodTypes; jsonSchema: JsonSchema }) => void

/** @returns the schema; those with an `id` stand in `$defs`, under it */
export function jsonSchemaOf(
  schema: z.ZodType,
  io: 'input' | 'output',
  override?: Override,
): JsonSchema & { readonly $defs: Readonly<Record<string, JsonSchema>> } {
  const {
    $schema: _,
    $defs = {},
    ...root
  } = z.toJSONSchema(schema, {
    io,
    target: 'draft-2020-12',
    unrepresentable: 'any',
    override: (about) => {
      simplify(about.jsonSchema as JsonSchema, io)
      override?.(about as Parameters<Override>[0])
    },
  })
  return { ...root, $defs: $defs as Record<string, JsonSchema> }
}

/** Takes out what is zod's own and no promise of ours: a response may get members, and all integers are safe ones. */
function simplify(jsonSchema: JsonSchema, io: 'input' | 'output'): void {
  if (io === 'output' && jsonSchema['additionalProperties'] === false) delete jsonSchema['additionalProperties']
  if (jsonSchema['minimum'] === Number.MIN_SAFE_INTEGER) delete jsonSchema['minimum']
  if (jsonSchema['maximum'] === Number.MAX_SAFE_INTEGER) delete jsonSchema['maximum']
  delete jsonSchema['propertyNames']
  delete jsonSchema['id']
}
