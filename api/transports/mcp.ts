/**
 * MCP at `POST /mcp`: stateless, one JSON answer to one JSON-RPC message, protocol 2025-11-25. A call goes through the same chain
 * as by REST, with a key or a connected app's token. Refusals of the whole request (origin, key, plan, access, rate limit) are the same as REST's, with `{detail}`.
 * A message that can't be read gets HTTP 400 and a JSON-RPC error. All other messages get HTTP 200.
 * docs/mcp.md has the table of refusals. Held by test/contract/mcp.test.ts and test/contract/mcp-parity.test.ts.
 */
import type { RequestHead } from '../../runtime/http/head.ts'
import type { HttpReply } from '../../runtime/http/reply.ts'
import type { HttpRequest, NoRoute, Route } from '../../runtime/http/server.ts'
import { parseJsonBody } from '../../schemas/json-body.ts'
import { isEmptyOrMissing, isObject } from '../../schemas/json-object.ts'
import { apiBodyBytesMax, unknownToolShownMax } from '../../schemas/limits/api-limits.ts'
import { refuseSharedLink } from '../guards/authorize.ts'
import { challengeOf } from '../oauth/metadata.ts'
import type { Operation } from '../operations/define.ts'
import type { Outcome } from '../operations/outcome.ts'
import { admit, type Call, runAdmitted } from '../operations/run.ts'
import { readToolsets, type Toolset, toolsets } from '../operations/toolsets.ts'
import {
  errorText,
  type Params,
  type RpcCode,
  type RpcId,
  type RpcRequest,
  readMessage,
  resultText,
  rpcCodes,
} from './json-rpc.ts'
import { mcpInstructions } from './mcp-instructions.ts'
import { makeTools, type Tool } from './mcp-tools.ts'
import { apiVersion } from './openapi.ts'
import { addressOf, jsonType, noStore, precheckKey, problemReply, type RestGateway } from './rest.ts'

export const mcpPath = '/mcp'
const protocolVersion = '2025-11-25'

/** Runs an operation for the caller of the message. */
type Run = (call: Pick<Call, 'operation' | 'readInput'>) => Promise<Outcome>

interface Answer {
  readonly status: number
  /** Undefined: no body. */
  readonly text?: string
  readonly headers?: Readonly<Record<string, string>>
}

export function makeMcpRoute(
  operations: readonly Operation[],
  gateway: RestGateway,
): (head: RequestHead) => Route | NoRoute {
  const offerOf = makeOffers(operations)
  const label = 'mcp'

  async function handle(request: HttpRequest): Promise<HttpReply> {
    const { requestId, headers: sent } = request
    const caller = {
      interface: 'mcp' as const,
      requestId,
      credential: sent.get('authorization'),
      address: addressOf(request, gateway),
    }
    const admission = await admit(caller, gateway, refuseSharedLink)
    if (!('key' in admission)) {
      const { status, body, headers } = admission.refusal
      const refused = replyOf({ status, text: JSON.stringify(body), headers: { ...admission.headers, ...headers } })
      return challenged(refused, request, gateway)
    }
    if (!jsonType.test(sent.get('content-type') ?? '')) return problemReply('json_expected', admission.headers)
    const run: Run = (call) => runAdmitted({ ...caller, ...call }, admission.key, gateway)
    const { headers, ...answer } = await answerTo(request, run)
    return replyOf({ ...answer, headers: { ...admission.headers, ...headers } })
  }

  async function answerTo({ headers, query, body }: HttpRequest, run: Run): Promise<Answer> {
    const version = headers.get('mcp-protocol-version') ?? protocolVersion
    if (version !== protocolVersion) {
      return refusal(null, rpcCodes.invalidRequest, `MCP-Protocol-Version must be ${protocolVersion}`, 400)
    }
    const parsed = parseJsonBody(body)
    if (!parsed.ok || parsed.value === undefined)
      return refusal(null, rpcCodes.unparsable, 'The body is not valid JSON', 400)
    const message = readMessage(parsed.value)
    if (message.kind === 'refused') return refusal(message.id, rpcCodes.invalidRequest, message.reason, 400)
    if (message.kind === 'unanswered') return { status: 202 }
    const chosen = readToolsets(query)
    if ('unknown' in chosen) {
      const reason = `Unknown toolset: ${shownName(chosen.unknown)}. There are ${toolsets.join(', ')}, and all.`
      return refusal(message.request.id, rpcCodes.invalidRequest, reason, 400)
    }
    return answerRequest(message.request, offerOf(chosen), run)
  }

  async function answerRequest(
    { id, method, params }: RpcRequest,
    { tools, listed }: Offer,
    run: Run,
  ): Promise<Answer> {
    switch (method) {
      case 'initialize': {
        const fault = faultOfInitialize(params)
        return fault === undefined ? result(id, initialized) : refusal(id, rpcCodes.invalidParams, fault)
      }
      case 'ping':
        return result(id, '{}')
      case 'tools/list':
        // The list is one page, so that no cursor is ours.
        return params['cursor'] == null ? result(id, listed) : refusal(id, rpcCodes.invalidParams, 'Invalid cursor')
      case 'tools/call': {
        const { name } = params
        const args = isEmptyOrMissing(params['arguments']) ? {} : params['arguments']
        const tool = typeof name === 'string' ? tools.get(name) : undefined
        if (tool === undefined) return refusal(id, rpcCodes.invalidParams, `Unknown tool: ${shownName(name)}`)
        if (!isObject(args)) return refusal(id, rpcCodes.invalidParams, 'arguments must be an object')
        const { operation } = tool
        const outcome = await run({ operation, readInput: () => tool.inputOf(args) })
        return answerOf(id, tool, outcome)
      }
      default:
        return refusal(id, rpcCodes.methodNotFound, 'Method not found')
    }
  }

  return function route(head) {
    if (head.method !== 'POST') return { label, reply: problemReply('method_not_allowed', { Allow: 'POST' }) }
    const origin = head.headers.get('origin')
    if (origin !== undefined && !isTrusted(origin, gateway.config.apiHost)) {
      return { label, reply: problemReply('origin_untrusted') }
    }
    const precheck = async (head: RequestHead) => {
      const refused = await precheckKey(head, gateway)
      return refused && challenged(refused, head, gateway)
    }
    return { label, bodyBytesMax: apiBodyBytesMax, precheck, handle }
  }
}

/** A 401 tells apps where they sign in. */
function challenged(reply: HttpReply, { headers }: RequestHead, { config }: Pick<RestGateway, 'config'>): HttpReply {
  if (reply.status !== 401) return reply
  const challenge = challengeOf(config.apiHost, headers.get('authorization') !== undefined)
  return { ...reply, headers: { ...reply.headers, 'WWW-Authenticate': challenge } }
}

/** The tools that a client's address asks for. */
interface Offer {
  readonly tools: ReadonlyMap<string, Tool>
  /** JSON of the answer to `tools/list`. */
  readonly listed: string
}

/** By their operations: gateways of the same ones share their offers, each of which takes a fifth of a second to make. */
const offersKnown = new WeakMap<readonly Operation[], Map<string, Offer>>()

/** Each offer is made once, when the first client asks for its toolsets; that of no toolset at once. */
function makeOffers(operations: readonly Operation[]): (chosen: ReadonlySet<Toolset>) => Offer {
  const offers = offersKnown.get(operations) ?? new Map<string, Offer>()
  offersKnown.set(operations, offers)
  const offerOf = (chosen: ReadonlySet<Toolset>): Offer => {
    const key = [...chosen].join()
    const known = offers.get(key)
    if (known !== undefined) return known
    const tools = makeTools(operations, chosen)
    const offer = { tools, listed: JSON.stringify({ tools: [...tools.values()].map(({ shown }) => shown) }) }
    offers.set(key, offer)
    return offer
  }
  offerOf(new Set())
  return offerOf
}

const initialized = JSON.stringify({
  protocolVersion,
  capabilities: { tools: {} },
  serverInfo: { name: 'svc', title: 'svc: publishing and web analytics', version: apiVersion },
  instructions: mcpInstructions,
})

function faultOfInitialize({ protocolVersion: wanted, capabilities, clientInfo }: Params): string | undefined {
  if (typeof wanted !== 'string') return 'protocolVersion must be a string'
  if (!isObject(capabilities)) return 'capabilities must be an object'
  const isNamed = isObject(clientInfo) && typeof clientInfo['name'] === 'string'
  return isNamed && typeof clientInfo['version'] === 'string' ? undefined : 'clientInfo must have a name and a version'
}

/** Whether the origin is the API host's, or another loopback name where the API host is one. Other pages may not call. */
function isTrusted(origin: string, apiHost: string): boolean {
  const own = new URL(apiHost)
  if (origin === own.origin) return true
  if (!loopback.has(own.hostname) || !URL.canParse(origin)) return false
  const { protocol, hostname, port, origin: whole } = new URL(origin)
  return origin === whole && protocol === own.protocol && port === own.port && loopback.has(hostname)
}

const loopback = new Set(['localhost', '127.0.0.1', '[::1]'])

/** A fault of the call itself becomes a protocol error; a fault that a model can correct becomes a result. */
function answerOf(id: RpcId, tool: Tool, { status, body, headers, problem }: Outcome): Answer {
  if (status < 400) {
    const json = JSON.stringify(tool.structured(body))
    return result(
      id,
      `{"content":[{"type":"text","text":${JSON.stringify(json)}}],"structuredContent":${json}}`,
      headers,
    )
  }
  if (status >= 500) return { ...refusal(id, rpcCodes.internal, String(problem?.detail), status), headers }
  const code = problem === undefined ? undefined : codes[problem.code]
  if (code !== undefined) return { ...refusal(id, code, String(problem?.detail)), headers }
  const content = [{ type: 'text', text: JSON.stringify(body) }]
  return result(id, JSON.stringify({ content, isError: true }), headers)
}

const codes: Readonly<Record<string, RpcCode | undefined>> = {
  scope_missing: rpcCodes.scopeMissing,
  idempotency_key_reused: rpcCodes.idempotencyConflict,
  idempotency_in_progress: rpcCodes.idempotencyConflict,
}

function result(id: RpcId, json: string, headers?: Answer['headers']): Answer {
  return { status: 200, text: resultText(id, json), ...(headers && { headers }) }
}

function refusal(id: RpcId | null, code: RpcCode, message: string, status = 200): Answer {
  return { status, text: errorText(id, code, message) }
}

function shownName(name: unknown): string {
  return typeof name === 'string' ? name.slice(0, unknownToolShownMax).toWellFormed() : 'the name must be a string'
}

function replyOf({ status, text, headers }: Answer): HttpReply {
  if (text === undefined) return { status, headers: { ...noStore, ...headers } }
  return { status, headers: { 'Content-Type': 'application/json', ...noStore, ...headers }, body: text }
}
