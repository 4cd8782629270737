/**
 * The server on PORT: forwards each path to its service, and answers 503 while that is away. Small bodies are forwarded
 * whole; large ones and answers as they come. If a service dies in a request, nobody knows whether it stored the event.
 * The connection is then closed without an answer: a 503 says that nothing was stored. Larger sites use a balancer.
 */
import { once } from 'node:events'
import {
  Agent,
  type AgentOptions,
  type ClientRequest,
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { createProxyServer } from 'httpxy'
import { hostOfTarget, originForm } from '../../runtime/http/head.ts'
import { idleConnectionMs } from '../../runtime/http/idle.ts'
import { inTurn } from '../../runtime/http/in-turn.ts'
import { endLingering } from '../../runtime/http/linger.ts'
import { type Refusal, refusals } from '../../runtime/http/refusals.ts'
import { requestIdOf } from '../../runtime/http/request-id.ts'
import { isEveryAddress } from '../../runtime/loopback.ts'
import { problems } from '../../schemas/errors/problems.ts'
import { trackingUrlBytesMax } from '../../schemas/limits/api-limits.ts'
import { trackingHeadersMax } from '../../schemas/limits/ingest-limits.ts'
import { retryAfterSeconds } from '../../schemas/limits/store-limits.ts'
import { hostOfHeader } from '../../schemas/short-domain.ts'
import { StartRefused } from '../data-folder.ts'
import type { ServiceName } from '../processes/services.ts'
import { hasBody, isBeyondReading, untilBegun } from './body-arrival.ts'
import type { DemoSite } from './demo-site.ts'
import { makeHeaderPreparer, refusalOfHead } from './forwarded-headers.ts'
import { answerRefused, askMethods, type WrittenAnswer } from './refused-requests.ts'
import { isShortLink, pathOf, serviceByRoute, serviceOfMetrics } from './service-of-path.ts'

export interface FrontOptions {
  host: string
  port: number
  /** Where the service listens, or undefined while it is away. */
  portOf(service: ServiceName): number | undefined
  /** The path of short links behind the host, without a slash at its end; undefined: `/l`. */
  shortLinkPath?: string
  /** Whether a request is for a host that has nothing but short links, which ingest serves; left out: none is. */
  isAtShortDomain?(host: string, path: string): boolean
  page(): Promise<string>
  /** The pages at `/demo/`. */
  demo?: DemoSite
  /** A header that only a trusted proxy may set, as those of regions and cities; and the ranges of such proxies. */
  countryHeader: string
  trustedProxies: readonly string[]
}

export interface Front {
  readonly port: number
  /** No new requests; resolves when those under way are answered, or are cut after a while. */
  close(): Promise<void>
}

const methodNotAllowed = JSON.stringify({ detail: problems.method_not_allowed.detail })
const unavailable = '{"detail":"Service temporarily unavailable"}'
/** A request whose headers take longer is cut. Bodies have the deadline of the service that reads them, once it is asked. */
const headersWithinMs = 9_000
/** An upload may last; nothing lasts longer. */
const requestWithinMs = 15 * 60_000
const answerWithinMs = 120_000
/** Below the services' own idle time: a connection that they are about to close isn't used. */
const idleUpstreamMs = 4_000
/** Time to read the answer, for a sender that was too slow: it has had its time. */
const lateLingerMs = 100
/** While a service is away, a sender's body has this long to end. */
const readOnMs = 250
const closeWithinMs = 10_000
/** The headers of an answer: where a short link leads to stands in one. Node's own bound is 16 KiB. */
const answerHeadBytesMax = 16 * 1024 + trackingUrlBytesMax
/** Connections that the kernel holds until they are accepted: beyond them it drops them without a word. */
const waitingConnectionsMax = 4_096

/** @throws StartRefused when the port is taken */
export async function startFront(options: FrontOptions): Promise<Front> {
  const agent = makeAgent({ keepAlive: true, maxFreeSockets: 256, timeout: idleUpstreamMs })
  const prepareHeaders = makeHeaderPreparer(options)
  const proxy = createProxyServer({ agent, proxyTimeout: answerWithinMs })
  proxy.on('error', (error, request, response) => {
    if (response && 'writeHead' in response && hasStoredNothing(error, request)) void refuse(response)
    else response?.destroy()
  })
  proxy.on('proxyRes', (answer) => {
    // They are about the other connection.
    delete answer.headers.connection
    delete answer.headers['keep-alive']
  })

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    endWithAnswer(request, response)
    takeTarget(request)
    const path = pathOf(request)
    const atDomain = options.isAtShortDomain?.(hostOfHeader(request.headers.host ?? ''), path) ?? false
    const service = atDomain ? 'ingest' : (serviceOfMetrics(request) ?? serviceOfRequest(path))
    const refusal = refusalOfHead(request, service === 'ingest' ? trackingHeadersMax : undefined)
    if (refusal) return refuseAndClose(request, response, refusal)
    if (path === '/' && !atDomain) return sendPage(request, response, options)
    if (options.demo && !atDomain && /^\/demo(\/|$)/.test(path)) return sendDemo(request, response, options.demo, path)
    if (options.portOf(service) === undefined) return refuse(response)
    if (service === 'ingest' && isBeyondReading(request))
      return refuseAndClose(request, response, refusals.bodyTooLarge)
    const arrival = hasBody(request) ? await untilBegun(request) : 'begun'
    if (arrival === 'gone') return void response.destroy()
    if (arrival === 'late') return refuseAndClose(request, response, problems.body_late)
    // It may have gone meanwhile.
    const port = options.portOf(service)
    if (port === undefined) return refuse(response)
    prepareHeaders(request, response)
    await proxy.web(request, response, { target: { host: '127.0.0.1', port }, headers: { connection: 'keep-alive' } })
  }

  function serviceOfRequest(path: string): ServiceName {
    return isShortLink(path, options.shortLinkPath ?? '/l') ? 'ingest' : serviceByRoute(path)
  }

  /** As the service answers another method that it doesn't take. */
  async function answerUnknownMethod(path: string, requestId: string): Promise<WrittenAnswer> {
    const ours = { 'Content-Type': 'application/json', 'X-Request-Id': requestId }
    if (path === '/' || (options.demo && /^\/demo(\/|$)/.test(path))) {
      return { status: 405, headers: { ...ours, Allow: 'GET, HEAD' }, body: methodNotAllowed }
    }
    const port = options.portOf(serviceOfRequest(path))
    const answer = port === undefined ? undefined : await askMethods(port, path, requestId).catch(() => undefined)
    return answer ?? { status: 503, headers: { ...ours, 'Retry-After': String(retryAfterSeconds) }, body: unavailable }
  }

  const limits = {
    headersTimeout: headersWithinMs,
    requestTimeout: requestWithinMs,
    // Answered by ourselves, as Node's answer would have no body.
    requireHostHeader: false,
    // Those that began together are cut together: 800 at once take a fifth of a second.
    connectionsCheckingInterval: 100,
    keepAliveTimeout: idleConnectionMs,
  }
  const listen = async (host: string, port: number): Promise<Server> => {
    const handle = inTurn((request, response) => {
      answer(request, response).catch(() => refuse(response))
    })
    const server = createServer(limits, handle)
    // The service decides about expectations other than that the body is read.
    server.on('checkExpectation', handle)
    answerRefused(server, answerUnknownMethod)
    server.listen({ port, host, backlog: waitingConnectionsMax })
    await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE')
        throw new StartRefused(`port ${port} is in use: set PORT to another one, or 0 for any`, { cause: error })
      throw new StartRefused(`LISTEN_HOST ${host}, port ${port} can't be listened on: ${error.message}`)
    })
    return server
  }

  const servers = [await listen(options.host === 'localhost' ? '127.0.0.1' : options.host, options.port)]
  const { port } = servers[0]!.address() as AddressInfo
  // `localhost` is ::1 first on many systems, and nothing else on some; where that isn't there, 127.0.0.1 is enough.
  const isEveryIpv4 = isEveryAddress(options.host) && !options.host.includes(':')
  if (isEveryIpv4 || ['127.0.0.1', 'localhost'].includes(options.host))
    await listen('::1', port).then(
      (server) => servers.push(server),
      (error: Error) => {
        // Otherwise `localhost` would lead to another program there. One for others may have a proxy for IPv6 beside it.
        const isTaken = (error.cause as NodeJS.ErrnoException | undefined)?.code === 'EADDRINUSE'
        if (isTaken && !isEveryIpv4) throw error
      },
    )

  return {
    port,
    close: async () => {
      const closed = Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
      const timer = setTimeout(() => {
        for (const server of servers) server.closeAllConnections()
      }, closeWithinMs)
      await closed
      clearTimeout(timer)
      agent.destroy()
    },
  }
}

/** A host that stands in the target counts, and not the one of the header: services are handed it there. */
function takeTarget(request: IncomingMessage): void {
  const target = request.url!
  const host = hostOfTarget(target)
  if (host !== undefined) request.headers.host = host
  request.url = originForm(target)
}

/** Each request gets its bound here, because httpxy has no option for it; the method is what Node calls, and not in its types. */
function makeAgent(options: AgentOptions): Agent {
  type AddRequest = (request: ClientRequest & { maxHeaderSize?: number }, ...rest: unknown[]) => void
  const agent = new Agent(options) as Agent & { addRequest: AddRequest }
  const addRequest = agent.addRequest.bind(agent)
  agent.addRequest = (request, ...rest) => {
    request.maxHeaderSize = answerHeadBytesMax
    // httpxy asks so for a body in chunks. uWebSockets.js closes then without a word, so nobody may use the connection again.
    if (request.getHeader('connection') === 'close') request.shouldKeepAlive = false
    addRequest(request, ...rest)
  }
  return agent
}

/** The service wasn't reached, or it stores nothing for such a request. */
function hasStoredNothing(error: NodeJS.ErrnoException, request: IncomingMessage | undefined): boolean {
  return error.syscall === 'connect' || ['GET', 'HEAD', 'OPTIONS'].includes(request?.method ?? '')
}

/** Once answered, a sender that goes on sending (a body that was too long, or never ends) is cut. */
function endWithAnswer(request: IncomingMessage, response: ServerResponse): void {
  response.on('finish', () => {
    if (!request.complete) endLingering(request.socket, '', response.statusCode === 408 ? lateLingerMs : undefined)
  })
}

async function sendPage(request: IncomingMessage, response: ServerResponse, { page }: FrontOptions): Promise<void> {
  if (isNoRead(request)) return refuseMethod(request, response)
  const headers = {
    'Content-Type': 'text/html; charset=utf-8',
    'Cache-Control': 'no-store',
    'Content-Security-Policy':
      "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    'X-Content-Type-Options': 'nosniff',
  }
  send(request, response, 200, headers, await page())
}

async function sendDemo(
  request: IncomingMessage,
  response: ServerResponse,
  demo: DemoSite,
  path: string,
): Promise<void> {
  if (isNoRead(request)) return refuseMethod(request, response)
  const { status, headers, body } = await demo.answer(path, request.headers['if-none-match'])
  send(request, response, status, headers, body)
}

function isNoRead({ method }: IncomingMessage): boolean {
  return method !== 'GET' && method !== 'HEAD'
}

function refuseMethod(request: IncomingMessage, response: ServerResponse): void {
  const headers = { 'Content-Type': 'application/json', Allow: 'GET, HEAD' }
  send(request, response, 405, headers, methodNotAllowed)
}

/** The rest of a short body is read first: so the connection can stay, as its answer says it does. */
async function refuse(response: ServerResponse): Promise<void> {
  if (response.headersSent) return void response.destroy()
  const { req: request } = response
  if (!request.complete) {
    const readWithin = AbortSignal.timeout(readOnMs)
    await once(request.resume(), 'end', { signal: readWithin }).catch(() => {})
  }
  const headers = { 'Content-Type': 'application/json', 'Retry-After': String(retryAfterSeconds), ...forSites(request) }
  send(request, response, 503, headers, unavailable)
}

/** As the services answer it. */
function refuseAndClose(
  request: IncomingMessage,
  response: ServerResponse,
  { status, detail }: Pick<Refusal, 'status' | 'detail'>,
): void {
  const headers = { 'Content-Type': 'application/json', Connection: 'close', ...forSites(request) }
  send(request, response, status, headers, JSON.stringify({ detail }))
}

/** Pages of any site may read ingest's answers. */
function forSites(request: IncomingMessage): Readonly<Record<string, string>> {
  if (serviceByRoute(pathOf(request)) !== 'ingest') return {}
  return { 'Access-Control-Allow-Origin': '*', 'Access-Control-Expose-Headers': 'Retry-After, X-Request-Id' }
}

function send(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  headers: Readonly<Record<string, string>>,
  body: string,
): void {
  const id = requestIdOf(String(request.headers['x-request-id'] ?? ''))
  // A 304 has no body, and its length would be taken for that of the one which isn't sent.
  const length = status === 304 ? {} : { 'Content-Length': Buffer.byteLength(body) }
  response.writeHead(status, { ...length, 'X-Request-Id': id, ...headers })
  response.end(body)
}
