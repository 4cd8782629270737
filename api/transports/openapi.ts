/**
 * The OpenAPI 3.1 document, made from the operations. It reads requests and responses off the same schemas that check
 * them. Held by test/contract/openapi.test.ts, which validates live answers against it.
 */
import type { z } from 'zod'
import { isRepeated } from '../../schemas/lax.ts'
import { viewScope } from '../../schemas/scopes.ts'
import type { Operation } from '../operations/define.ts'
import { isFileOutput } from '../operations/file-output.ts'
import { idempotencyKeySchema } from '../operations/validate.ts'
import { type JsonSchema, jsonSchemaOf } from './json-schema.ts'
import { errorSchemas, errorsOf, rateLimitHeaders, requestIdHeader } from './openapi-errors.ts'
import { addExamples } from './openapi-examples.ts'
import { fileParameters, fileResponses, showFile } from './openapi-files.ts'
import { tagsOf } from './openapi-tags.ts'

/** The version of the contract. */
export const apiVersion = '1.0.0'

const securityScheme = 'HTTPBearer'

const idempotencyParameter = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'Makes a retry safe: the same key with the same request gets the first answer again. Printable ASCII.',
  schema: toJsonSchema(idempotencyKeySchema, 'input', {}),
}
const replayedHeader = {
  'Idempotent-Replayed': {
    description: '`true` where this is the answer of an earlier request.',
    schema: { type: 'string' },
  },
}

export function makeOpenApi(operations: readonly Operation[], apiHost: string): Record<string, unknown> {
  const schemas: Record<string, JsonSchema> = { ...errorSchemas }
  const paths: Record<string, Record<string, unknown>> = {}
  for (const operation of operations) {
    const { method, path } = operation.http
    paths[path] ??= {}
    paths[path][method.toLowerCase()] = describeOperation(operation, schemas)
  }
  addExamples(paths, schemas)
  return {
    openapi: '3.1.0',
    info: {
      title: 'Customer API',
      version: apiVersion,
      summary: 'Social publishing and web analytics of one workspace.',
      description: 'Every request carries a secret API key, which belongs to one workspace and has scopes.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: apiHost }],
    tags: tagsOf(operations.map(({ tag }) => tag)),
    paths,
    components: {
      schemas,
      securitySchemes: {
        [securityScheme]: { type: 'http', scheme: 'bearer', description: 'A secret key: `svc_sk_…`.' },
      },
    },
  }
}

function describeOperation(operation: Operation, schemas: Record<string, JsonSchema>): Record<string, unknown> {
  const { input, output, summary, description, tag, scope, isShared, effect, needsNoBody = false } = operation
  const others = isShared ? `, or \`${viewScope}\` of a shared link` : ''
  const parameters = [
    ...parametersOf('path', input.path, schemas),
    ...parametersOf('query', input.query, schemas),
    ...(effect === 'read' ? [] : [idempotencyParameter]),
    ...(isFileOutput(output) ? fileParameters : []),
  ]
  const headers = { ...requestIdHeader, ...rateLimitHeaders, ...(effect !== 'read' && replayedHeader) }
  const success = isFileOutput(output)
    ? fileResponses(headers)
    : { 200: { description: 'Successful Response', headers, ...json(output, 'output', schemas) } }
  const sent = input.form ? form(input.form, schemas) : input.body && json(input.body, 'input', schemas)
  return {
    operationId: operationId(operation),
    tags: [tag],
    summary,
    description: `${description === undefined ? '' : `${description}\n\n`}Needs the scope \`${scope}\`${others}.`,
    security: [{ [securityScheme]: [] }],
    ...(parameters.length > 0 && { parameters }),
    ...(sent && { requestBody: { required: !needsNoBody, ...sent } }),
    responses: { ...success, ...errorsOf(operation) },
  }
}

/**
 * `create_link`: the tool's name where there is one, else the operation's with the verb first. Lists take the plural.
 */
export function operationId({ tool, name }: Pick<Operation, 'tool' | 'name'>): string {
  if (tool !== undefined) return tool.slice('svc.'.length)
  const [noun, verb] = name.split('.') as [string, string]
  return verb === 'list' ? `list_${noun.replace(/([^aeiou])y$/, '$1ie')}s` : `${verb}_${noun}`
}

function parametersOf(place: 'path' | 'query', schema: z.ZodObject | undefined, schemas: Record<string, JsonSchema>) {
  if (schema === undefined) return []
  const whole = toJsonSchema(schema, 'input', schemas) as {
    properties?: Record<string, JsonSchema>
    required?: string[]
  }
  return Object.entries(whole.properties ?? {}).map(([name, { description, ...bounds }]) => ({
    name,
    in: place,
    required: place === 'path' || (whole.required ?? []).includes(name),
    ...(description !== undefined && { description }),
    // One text with commas, or a parameter for each.
    ...(bounds['type'] === 'array' && { style: 'form', explode: isRepeated(schema.shape[name]) }),
    schema: bounds,
  }))
}

function json(schema: z.ZodType, io: 'input' | 'output', schemas: Record<string, JsonSchema>) {
  return { content: { 'application/json': { schema: toJsonSchema(schema, io, schemas) } } }
}

function form(schema: z.ZodType, schemas: Record<string, JsonSchema>) {
  return { content: { 'multipart/form-data': { schema: toJsonSchema(schema, 'input', schemas) } } }
}

/** Schemas with an `id` go to the components, under it; the same id with another content is a mistake of ours. */
function toJsonSchema(schema: z.ZodType, io: 'input' | 'output', schemas: Record<string, JsonSchema>): JsonSchema {
  const { $defs, ...root } = jsonSchemaOf(schema, io, showFile)
  for (const [id, definition] of Object.entries($defs)) {
    const named = withComponentRefs(definition)
    const before = schemas[id]
    if (before !== undefined && JSON.stringify(before) !== JSON.stringify(named)) {
      throw new Error(`two schemas are called ${id}`)
    }
    schemas[id] = named
  }
  return withComponentRefs(root)
}

function withComponentRefs(schema: unknown): JsonSchema {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/')) as JsonSchema
}
