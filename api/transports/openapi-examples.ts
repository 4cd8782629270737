/**
 * The examples of the OpenAPI document, made of its schemas, so that an example can't have another shape than what it is an
 * example of. A schema may bring its own (`examples`, by zod's `meta`); a member's value is chosen by its name where that says
 * more than its type. Held by test/contract/openapi.test.ts: each is valid by its schema.
 */
import type { JsonSchema } from './json-schema.ts'

/** Examples by member name, wherever a schema takes them. */
const byName: Readonly<Record<string, unknown>> = {
  action: 'webhook_endpoint.create',
  actor_name: 'reports',
  alt_text: 'A red bicycle against a white wall',
  anonymous_id: '0b9f0d6e-7a55-4a5f-9a6d-2f1f5f1c9d3e',
  attribution_key: 'a1B2c3D4',
  base_caption: 'We have shipped something new.',
  bucket: 'day',
  campaign: 'launch',
  caption_override: 'Shipped!',
  channel: 'Organic Search',
  content_type: 'image/png',
  currency: 'EUR',
  description: 'Tells the chat of new posts',
  destination_url: 'https://example.com/pricing',
  detail: 'Visitors fell by 30 % against the week before.',
  display_name: 'Example',
  event_id: 'evt_0193c1f2a7e24b6f9d3b',
  event_name: 'pageview',
  event_type: 'post.created',
  expired_url: 'https://example.com/over',
  filename: 'bicycle.png',
  handle: '@example',
  hash: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  image_url: 'https://example.com/card.png',
  label: 'Launch post',
  name: 'Example',
  original_filename: 'bicycle.png',
  path: '/pricing',
  platform: 'mastodon',
  post_url: 'https://go.example.com/a1B2c3D4',
  previous_hash: '60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752',
  priority: 'high',
  rating: 'good',
  referrer: 'https://www.google.com/',
  request_id: '4f3c2b1a-0d9e-4c8b-a7f6-5e4d3c2b1a09',
  resource_type: 'webhook_endpoint',
  response_status: 200,
  secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=',
  size_bytes: 48_213,
  slug: 'example',
  source_urls: ['https://example.com/'],
  source: 'google',
  medium: 'organic',
  tags: ['launch'],
  text: 'It begins with a story.',
  thread: 'It begins with a story.',
  timezone: 'Europe/Berlin',
  title: 'Launch',
  tracking_key: 'svc_pk_0123456789abcdefghijABCD',
  tracking_url: 'https://example.com/pricing?utm_source=svc&utm_medium=social&svc_link_id=12',
  url: 'https://example.com/pricing',
  utm_campaign: 'launch',
  utm_content: 'first-picture',
  utm_medium: 'social',
  utm_source: 'svc',
  workspace_slug: 'example',
}

const moment = '2026-11-20T09:30:00.000Z'
/** A date that stays in the future for every reader. */
const later = '2036-11-20T09:30:00Z'
const idExample = 12

type Schemas = Readonly<Record<string, JsonSchema>>
interface Place {
  readonly name: string
  readonly isRequest: boolean
}

/** Adds an example to every parameter, body and answer that has a schema and none of its own. */
export function addExamples(paths: Record<string, Record<string, unknown>>, schemas: Schemas): void {
  for (const operation of Object.values(paths).flatMap((byMethod) => Object.values(byMethod))) {
    const {
      parameters = [],
      requestBody,
      responses,
    } = operation as {
      parameters?: { name: string; schema: JsonSchema; example?: unknown }[]
      requestBody?: Described
      responses: Record<string, Described>
    }
    for (const parameter of parameters) {
      parameter.example ??= parameterExample(parameter.name, parameter.schema, schemas)
      if (parameter.example === undefined) delete parameter.example
    }
    addToContent(requestBody, true, schemas)
    addToContent(responses['200'], false, schemas)
  }
}

interface Described {
  content?: Record<string, { schema?: JsonSchema; example?: unknown; examples?: unknown }>
}

function addToContent(described: Described | undefined, isRequest: boolean, schemas: Schemas): void {
  const shown = described?.content?.['application/json']
  if (shown?.schema === undefined || shown.examples !== undefined) return
  shown.example ??= exampleOf(shown.schema, schemas, { name: '', isRequest })
}

/** A parameter with a default needs none: its default says it. Free texts have none that would fit. */
function parameterExample(name: string, schema: JsonSchema, schemas: Schemas): unknown {
  if (name === 'Idempotency-Key') return byName['request_id']
  if (schema['default'] !== undefined) return schema['default']
  if (name.endsWith('_id') || schema['enum'] !== undefined) return exampleOf(schema, schemas, { name, isRequest: true })
  return undefined
}

function exampleOf(schema: JsonSchema, schemas: Schemas, place: Place): unknown {
  const reference = schema['$ref'] as string | undefined
  if (reference !== undefined) return exampleOf(schemas[reference.split('/').at(-1)!]!, schemas, place)
  const [own] = (schema['examples'] as unknown[] | undefined) ?? []
  if (own !== undefined) return own
  if (schema['const'] !== undefined) return schema['const']
  if (Array.isArray(schema['enum'])) return schema['enum'][0]
  const choices = (schema['anyOf'] ?? schema['oneOf']) as JsonSchema[] | undefined
  if (choices !== undefined) return exampleOf(choices.find(({ type }) => type !== 'null')!, schemas, place)
  switch (typeOf(schema)) {
    case 'object':
      return objectExample(schema, schemas, place)
    case 'array':
      return listExample(schema, schemas, place)
    case 'string':
      return textExample(schema, place)
    case 'integer':
    case 'number':
      return numberExample(schema, place)
    case 'boolean':
      return schema['default'] ?? true
    default:
      return {}
  }
}

/** Among several types the first: `null` says the least. */
function typeOf({ type }: JsonSchema): unknown {
  return Array.isArray(type) ? type.find((one) => one !== 'null') : type
}

function objectExample(schema: JsonSchema, schemas: Schemas, { isRequest }: Place): unknown {
  const members = Object.entries((schema['properties'] ?? {}) as Record<string, JsonSchema>)
  // As an example, the version of a post that was read is none that any post has: the request would be refused.
  const shown = members.filter(([name]) => !isRequest || name !== 'updated_at')
  return Object.fromEntries(shown.map(([name, member]) => [name, exampleOf(member, schemas, { name, isRequest })]))
}

function listExample(schema: JsonSchema, schemas: Schemas, { name, isRequest }: Place): unknown[] {
  const named = byName[name]
  if (Array.isArray(named)) return named
  // `media_ids` holds what a `media_id` is.
  const itemName = name.replace(/s$/, '')
  return [exampleOf((schema['items'] ?? {}) as JsonSchema, schemas, { name: itemName, isRequest })]
}

function textExample(schema: JsonSchema, { name, isRequest }: Place): string {
  if (schema['format'] === 'date-time') return isRequest ? later : moment
  const type = /^\^(\w+)_\\d\+\$$/.exec(String(schema['pattern'] ?? ''))?.[1]
  if (type !== undefined) return `${type}_${idExample}`
  const named = byName[name] ?? schema['default']
  return typeof named === 'string' && named.length >= Number(schema['minLength'] ?? 0) ? named : 'text'
}

function numberExample(schema: JsonSchema, { name }: Place): number {
  const named = byName[name]
  if (typeof named === 'number') return named
  if (name === 'id' || name.endsWith('_id')) return idExample
  return Number(schema['default'] ?? schema['minimum'] ?? 0)
}
