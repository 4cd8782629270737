/** Operations over HTTP: finds the operation, collects its input, and turns the outcome into a reply. */
import type { z } from 'zod'
import type { RequestHead } from '../../runtime/http/head.ts'
import { type HttpReply, jsonReply } from '../../runtime/http/reply.ts'
import type { HttpRequest, NoRoute, Route, StreamedRequest, StreamedRoute } from '../../runtime/http/server.ts'
import type { TrustedProxies } from '../../runtime/http/trusted-proxy.ts'
import { invalid, Problem, problem } from '../../schemas/errors/problems.ts'
import { parseJsonBody } from '../../schemas/json-body.ts'
import { isRepeated } from '../../schemas/lax.ts'
import { apiBodyBytesMax } from '../../schemas/limits/api-limits.ts'
import { uploadDeadlineMs, uploadStallMs } from '../../schemas/limits/media-limits.ts'
import type { Interface, Operation } from '../operations/define.ts'
import { type FileContent, isFileOutput } from '../operations/file-output.ts'
import { type Gateway, runCall } from '../operations/run.ts'
import type { RawInput } from '../operations/validate.ts'
import { fileReply } from './file-reply.ts'
import type { Form, FormReader } from './form.ts'
import { makeRouteTable } from './route-table.ts'

/** The label of requests that belong to no operation. */
const noOperation = 'none'

export interface RestGateway extends Gateway {
  /** Whose word is believed on where a request comes from. */
  readonly proxies: TrustedProxies
  readonly forms: FormReader
  /** Bytes of a form with its file. */
  readonly formBytesMax: number
  /** How callers of these routes prove who they are. */
  readonly by: {
    readonly interface: Interface
    credentialOf(head: RequestHead): string | undefined
    /** A prefix of requests' paths, before the operations' paths. */
    readonly under?: string
  }
}

export function makeRestRouter(operations: readonly Operation[], gateway: RestGateway) {
  const table = makeRouteTable(operations)

  const { under = '' } = gateway.by

  return function route({ method, path: asked, query }: RequestHead): Route | StreamedRoute | NoRoute {
    const path = asked.slice(under.length)
    const match = table.find(path)
    if (match === undefined) {
      const isKnownWithoutSlash = path.endsWith('/') && table.find(path.slice(0, -1)) !== undefined
      return {
        label: noOperation,
        reply: isKnownWithoutSlash ? redirectReply(asked, query) : problemReply('not_found'),
      }
    }
    const operation = match.operations.get(method)
    if (operation === undefined) {
      const allow = [...match.operations.keys()].sort().join(', ')
      return { label: noOperation, reply: problemReply('method_not_allowed', { Allow: allow }) }
    }
    if (operation.input.form) {
      return {
        label: operation.name,
        bodyBytesMax: gateway.formBytesMax,
        stream: { stallMs: uploadStallMs, deadlineMs: uploadDeadlineMs },
        handle: (request: StreamedRequest) => callWithForm(operation, match.path, request, gateway),
      }
    }
    return {
      label: operation.name,
      bodyBytesMax: apiBodyBytesMax,
      precheck: (head) => precheckKey(head, gateway),
      handle: (request) => callOperation(operation, match.path, request, gateway),
    }
  }
}

/** Checks the key before a long body is buffered. */
export async function precheckKey(
  head: RequestHead,
  { authenticator, by }: Pick<RestGateway, 'authenticator' | 'by'>,
): Promise<HttpReply | undefined> {
  try {
    await authenticator.authenticate(by.credentialOf(head))
    return undefined
  } catch (error) {
    // Whatever else is wrong, the call itself will meet it, too.
    return error instanceof Problem ? replyOf(error) : undefined
  }
}

type Path = Readonly<Record<string, string>>

function callOperation(
  operation: Operation,
  path: Path,
  request: HttpRequest,
  gateway: RestGateway,
): Promise<HttpReply> {
  const body = () => (operation.input.body === undefined ? undefined : readBody(request))
  return call(operation, path, request, gateway, () => ({ body: body() }))
}

/** The form is read by the chain, once the caller may: nobody else makes us write anything down. */
async function callWithForm(
  operation: Operation,
  path: Path,
  request: StreamedRequest,
  gateway: RestGateway,
): Promise<HttpReply> {
  let form: Form | undefined
  try {
    return await call(operation, path, request, gateway, async (workspaceId) => {
      form = await gateway.forms.read(request, workspaceId)
      return { body: form.fields, fingerprint: form.fingerprint }
    })
  } finally {
    await form?.discard()
  }
}

type SentBody = Pick<RawInput, 'body' | 'fingerprint'>

async function call(
  operation: Operation,
  path: Path,
  request: RequestHead,
  gateway: RestGateway,
  readSent: (workspaceId: number) => SentBody | Promise<SentBody>,
): Promise<HttpReply> {
  const { requestId, headers: sent } = request
  const outcome = await runCall(
    {
      operation,
      interface: gateway.by.interface,
      requestId,
      credential: gateway.by.credentialOf(request),
      address: addressOf(request, gateway),
      readInput: async (workspaceId) => ({
        path,
        query: readQuery(request.query, operation.input.query?.shape),
        idempotencyKey: sent.get('idempotency-key'),
        ...(await readSent(workspaceId)),
      }),
    },
    gateway,
  )
  const { status, body, headers } = outcome
  const isFile = outcome.problem === undefined && isFileOutput(operation.output)
  return isFile ? fileReply(body as FileContent, request, headers) : jsonReply(status, body, { ...noStore, ...headers })
}

export function addressOf({ headers, socketAddress }: RequestHead, { proxies }: Pick<RestGateway, 'proxies'>): string {
  return proxies.resolve(socketAddress, headers.get('x-forwarded-for') ?? '', '').address
}

/** For what is refused before there is an operation to run. */
export function problemReply(code: Parameters<typeof problem>[0], headers?: Record<string, string>): HttpReply {
  return replyOf(problem(code), headers)
}

function replyOf({ status, detail, headers }: Problem, more?: Record<string, string>): HttpReply {
  return jsonReply(status, { detail }, { ...noStore, ...headers, ...more })
}

/** Caches must not store authenticated answers. */
export const noStore = { 'Cache-Control': 'no-store' }

/** To the path without its last slash; without a host, so that it stays with the address that the caller used. */
export function redirectReply(path: string, query: string): HttpReply {
  const location = path.slice(0, -1) + (query === '' ? '' : `?${query}`)
  return { status: 307, headers: { Location: location } }
}

/** The last value of a repeated parameter counts, where it isn't a list. */
export function readQuery(
  query: string,
  shape: Readonly<Record<string, z.ZodType>> = {},
): Record<string, string | string[]> {
  const values: Record<string, string | string[]> = Object.create(null)
  // URLSearchParams drops one leading `?`. With one in front, a `?` that the first name begins with stays.
  const sent = new URLSearchParams(`?${query}`)
  for (const [name, value] of sent) values[name] = value
  for (const [name, schema] of Object.entries(shape)) {
    if (isRepeated(schema) && sent.has(name)) values[name] = sent.getAll(name)
  }
  return values
}

export const jsonType = /^application\/(?:[^;\s]+\+)?json\s*(?:;|$)/i

/**
 * The body as JSON; undefined when there is none. A body that isn't declared as JSON is a text, which no schema
 * accepts.
 * @throws Problem when it isn't JSON
 */
function readBody({ headers, body }: HttpRequest): unknown {
  if (body.length === 0) return undefined
  if (!jsonType.test(headers.get('content-type') ?? '')) return body.toString('utf8')
  const parsed = parseJsonBody(body)
  if (parsed.ok) return parsed.value
  throw parsed.status === 400 ? problem('body_unparsable') : invalid(parsed.detail)
}
