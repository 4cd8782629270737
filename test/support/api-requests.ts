/**
 * A good request of every operation, made from the OpenAPI document. A maker creates each object that a path names
 * through the API. The body is the document's example without references. For tests that go over the whole registry.
 */
import type { Operation } from '../../api/operations/define.ts'
import { operations } from '../../api/operations/registry.ts'
import { makeOpenApi, operationId } from '../../api/transports/openapi.ts'
import type { TestApi } from './api.ts'
import { pixel } from './media-files.ts'
import { insertChunks } from './replays.ts'
import type { TestStores } from './stores.ts'

export interface Content {
  readonly schema: ApiSchema
  readonly example?: unknown
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>
}
export interface ApiSchema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly format?: string
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly ApiSchema[]
  readonly items?: ApiSchema
  readonly properties?: Readonly<Record<string, ApiSchema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | ApiSchema
  readonly default?: unknown
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
}
export interface ApiParameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required: boolean
  readonly schema: ApiSchema
  readonly example?: unknown
}
interface ApiResponse {
  readonly description: string
  readonly headers?: Readonly<Record<string, { readonly required?: boolean; readonly schema: ApiSchema }>>
  readonly content?: Readonly<Record<string, Content>>
}
export interface ApiOperation {
  readonly operationId: string
  readonly summary: string
  readonly description: string
  readonly tags: readonly string[]
  readonly security: readonly object[]
  readonly parameters?: readonly ApiParameter[]
  readonly requestBody?: { readonly required?: boolean; readonly content: Readonly<Record<string, Content>> }
  readonly responses: Readonly<Record<string, ApiResponse>>
}
export interface ApiDocument {
  readonly tags: readonly { readonly name: string; readonly description?: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, ApiOperation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, ApiSchema>> }
}

export const apiDocument = makeOpenApi(operations, 'https://api.svc.test') as unknown as ApiDocument

export function shownOf({ http }: Pick<Operation, 'http'>): ApiOperation {
  return apiDocument.paths[http.path]![http.method.toLowerCase()]!
}

export function resolved(schema: ApiSchema): ApiSchema {
  return schema.$ref === undefined ? schema : apiDocument.components.schemas[schema.$ref.split('/').at(-1)!]!
}

/** Asks as one workspace. */
export interface Asker {
  readonly api: TestApi
  readonly stores: Pick<TestStores, 'pg' | 'ch'>
  readonly workspaceId: number
  readonly key: string
}

type Maker = (asker: Asker) => Promise<number>

/** Each id is a session that nobody else has made. */
let madeSessions = 1_000_000

/** No two objects of a kind may be alike. */
let made = 0

/** Makers of the objects that a path's parameters name. */
export const makers: Readonly<Record<string, Maker>> = {
  goal_id: (asker) => created(asker, '/v1/goals', { name: `Made ${++made}`, kind: 'event', value: `made ${made}` }),
  feed_id: (asker) => created(asker, '/v1/feeds', { url: `https://example.com/${++made}` }),
  note_id: (asker) => created(asker, '/v1/notes', { day: '2026-11-20', text: 'Made' }),
  segment_id: (asker) => created(asker, '/v1/segments', { name: `Made ${++made}`, filters: { os: ['Linux'] } }),
  funnel_id: (asker) => created(asker, '/v1/funnels', { name: `Made ${++made}`, steps: ['path:/', 'event:signup'] }),
  snippet_id: (asker) => created(asker, '/v1/snippets', { name: `Made ${++made}`, text: 'Made' }),
  webhook_id: (asker) => created(asker, '/v1/webhooks', { url: 'https://example.com/hook' }),
  replay_id: async ({ stores, workspaceId }) => {
    const session = madeSessions++
    await insertChunks(stores.ch, [{ workspace_id: workspaceId, session }])
    return session
  },
  link_id: (asker) => created(asker, '/v1/links', { label: 'Made', destination_url: 'https://example.com/' }),
  domain_id: (asker) => created(asker, '/v1/domains', { host: `made${++made}.example.com` }),
  post_id: async (asker) =>
    created(asker, '/v1/posts', {
      title: 'Made',
      base_caption: 'Made by a test.',
      scheduled_at: '2036-11-20T09:30:00Z',
      social_account_ids: [await makeAccount(asker)],
    }),
  media_id: async (asker) => {
    const form = new FormData()
    form.set('file', new Blob([pixel], { type: 'image/png' }), 'pixel.png')
    const response = await asker.api.ask('/v1/media', { method: 'POST', key: asker.key, body: form })
    return idOf(response)
  },
  contact_id: async ({ stores, workspaceId }) => {
    const [row] = await stores.pg.query<{ id: number }>(
      `INSERT INTO contacts (workspace_id, email, email_hash, first_identified_at, last_identified_at, first_seen_at, last_seen_at)
       VALUES ($1, gen_random_uuid() || '@example.com', floor(random() * 1e15), $2, $2, $2, $2) RETURNING id`,
      [workspaceId, Date.now()],
    )
    return row!.id
  },
  delivery_id: async (asker) => {
    const endpoint = await makers['webhook_id']!(asker)
    const [row] = await asker.stores.pg.query<{ id: number }>(
      `WITH event AS (
         INSERT INTO outbox (workspace_id, event_id, type, object, fanned_out_at)
         VALUES ($1, 'evt_' || $2::bigint, 'webhook.test', '{}', now()) RETURNING event_id
       )
       INSERT INTO webhook_deliveries (workspace_id, webhook_endpoint_id, event_id, event_type, status)
       SELECT $1, $2, event_id, 'webhook.test', 'failed' FROM event RETURNING id`,
      [asker.workspaceId, endpoint],
    )
    return Number(row!.id)
  },
}

/** Parameters of queries that name an object which a good request needs, by the operation's path. */
const queryNames: Readonly<Record<string, string>> = { '/v1/people/journey': 'contact_id' }

/** Other parameters of queries that a good request needs. */
type Needed = Readonly<Record<string, string | readonly string[]>>
const neededTexts: Readonly<Record<string, Needed>> = {
  '/v1/analytics/click-map': { path: '/pricing' },
  '/v1/analytics/flow': { path: ['/pricing'] },
  '/v1/analytics/funnel': { step: ['path:/', 'event:signup'] },
}

export function neededTextsOf({ http }: Pick<Operation, 'http'>): Needed {
  return neededTexts[http.path] ?? {}
}

/** Ids in a request's path and query. */
export type Made = Record<string, number | string | readonly string[]>

/** The same of bodies. */
const bodyNames: Readonly<Record<string, string>> = { 'POST /v1/company-profile/media': 'media_id' }
const bodyNameOf = ({ http }: Pick<Operation, 'http'>) => bodyNames[`${http.method} ${http.path}`]

/** Accounts are connected by a command, not through the API. */
export async function makeAccount({ stores, workspaceId }: Asker): Promise<number> {
  const [row] = await stores.pg.query<{ id: number }>(
    `INSERT INTO social_accounts (workspace_id, platform, handle, display_name) VALUES ($1, 'mastodon', '@made', 'Made')
     ON CONFLICT (workspace_id, platform, handle) DO UPDATE SET updated_at = now() RETURNING id`,
    [workspaceId],
  )
  return Number(row!.id)
}

async function created({ api, key }: Asker, path: string, body: object): Promise<number> {
  const headers = { 'Content-Type': 'application/json' }
  return idOf(await api.ask(path, { method: 'POST', key, headers, body: JSON.stringify(body) }))
}

async function idOf(response: Response): Promise<number> {
  const body = (await response.json()) as { id?: number }
  if (response.status !== 200) throw new Error(`${response.status} ${JSON.stringify(body)}`)
  return body.id!
}

/** The operation that a post needs before it can be … */
const preparations: Readonly<Record<string, string>> = {
  reschedule_post: 'schedule',
  unschedule_post: 'schedule',
  return_post: 'submit',
}

/** Tables of objects that have a name, or an address, for themselves. */
const tablesOfOwnNames: Readonly<Record<string, string>> = {
  domain: 'short_domains',
  goal: 'goals',
  segment: 'segments',
  saved_funnel: 'saved_funnels',
  snippet: 'snippets',
  feed: 'feeds',
}

/** The path of the operation, with an object of the asker for each parameter, in a state that allows it. */
export async function madePath(operation: Operation, asker: Asker): Promise<Made> {
  const values: Made = { ...neededTextsOf(operation) }
  for (const name of objectNames(operation)) {
    const maker = makers[name]
    if (maker === undefined) throw new Error(`nothing makes a ${name}: add it to the makers`)
    values[name] = await maker(asker)
  }
  const before = preparations[operationId(operation)]
  if (before !== undefined) {
    await created(asker, `/v1/posts/${values['post_id']}/${before}`, { scheduled_at: '2036-11-20T09:30:00Z' })
  }
  if (operationId(operation) === 'queue_post') {
    await asker.stores.pg.query(
      `INSERT INTO posting_times SELECT $1, weekday, 60 * hour FROM generate_series(1, 7) weekday, generate_series(1, 9) hour
       ON CONFLICT DO NOTHING`,
      [asker.workspaceId],
    )
  }
  // The document's example has to be free, a second time too.
  const table = tablesOfOwnNames[operation.name.replace(/\.(create|update)$/, '')]
  if (table !== undefined) {
    const own = pathNames(operation).map((name) => Number(values[name]))
    await asker.stores.pg.query(`DELETE FROM ${table} WHERE workspace_id = $1 AND id <> ALL ($2)`, [
      asker.workspaceId,
      own,
    ])
  }
  if (operationId(operation) === 'remove_company_profile_media') {
    await asker.stores.pg.query(
      'INSERT INTO company_profile_media (workspace_id, media_id, role) VALUES ($1, $2, $3)',
      [asker.workspaceId, values['media_id'], 'logo'],
    )
  }
  return values
}

export function pathNames({ http }: Pick<Operation, 'http'>): string[] {
  return [...http.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!)
}

/** Names in the path, and in the query or the body where that names one. */
export function objectNames(operation: Pick<Operation, 'http'>): string[] {
  const name = queryNames[operation.http.path] ?? bodyNameOf(operation)
  return name === undefined ? pathNames(operation) : [...pathNames(operation), name]
}

/** With what the query needs, where `values` has it. */
export function filledPath(
  { http }: Pick<Operation, 'http'>,
  values: Readonly<Record<string, number | string | readonly string[]>>,
): string {
  const path = http.path.replace(/\{(\w+)\}/g, (_, name: string) => String(values[name]))
  const sent = neededNames(http.path).filter((name) => Object.hasOwn(values, name))
  const pairs = sent.flatMap((name) => [values[name]!].flat().map((value): [string, string] => [name, String(value)]))
  return pairs.length === 0 ? path : `${path}?${new URLSearchParams(pairs)}`
}

/** Parameters of the query. */
export function neededNames(path: string): string[] {
  return [queryNames[path] ?? [], Object.keys(neededTexts[path] ?? {})].flat()
}

/** Members of bodies that name other objects, or the state of one. But for `bodyNames` none need be there. */
export const references = [
  'media_id',
  'post_id',
  'social_account_id',
  'media_ids',
  'social_account_ids',
  'platform_captions',
  'updated_at',
]

/** The example of the body without references; undefined where there is none, or where it is a form. */
export function exampleBody(operation: Operation): Record<string, unknown> | undefined {
  const example = shownOf(operation).requestBody?.content['application/json']?.example
  if (example === undefined) return undefined
  return withoutReferences(example as object)
}

/** Those of a list's items too. */
function withoutReferences(example: object): Record<string, unknown> {
  const inItem = (item: unknown) => (typeof item === 'object' && item !== null ? withoutReferences(item) : item)
  const members = Object.entries(example).filter(([name]) => !references.includes(name))
  return Object.fromEntries(
    members.map(([name, member]) => [name, Array.isArray(member) ? member.map(inItem) : member]),
  )
}

export function takesForm(operation: Operation): boolean {
  return shownOf(operation).requestBody?.content['multipart/form-data'] !== undefined
}

/** A good body as `fetch` takes it, and its type. @param values of `madePath` */
export function goodBody(
  operation: Operation,
  values: Readonly<Record<string, unknown>>,
  changes: Readonly<Record<string, unknown>> = {},
): RequestInit {
  if (takesForm(operation)) {
    const form = new FormData()
    form.set('file', new Blob([pixel], { type: 'image/png' }), 'pixel.png')
    return { body: form }
  }
  const example = exampleBody(operation)
  if (example === undefined) return {}
  const name = bodyNameOf(operation)
  const named = name === undefined ? {} : { [name]: values[name] }
  return { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ ...example, ...named, ...changes }) }
}
