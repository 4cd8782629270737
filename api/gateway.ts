/** The API's HTTP server: the operations by REST and MCP, their OpenAPI document (for people as well), health and metrics. */
import type { ClickHouse } from '../clickhouse/client.ts'
import type { Postgres } from '../postgres/client.ts'
import { makeCoalescer } from '../runtime/coalesce.ts'
import type { IdentityHashes } from '../runtime/crypto/identity-hash.ts'
import type { KeyedHash } from '../runtime/crypto/keyed-hash.ts'
import type { MediaLinks } from '../runtime/crypto/media-link.ts'
import type { SecretBox } from '../runtime/crypto/secret-box.ts'
import type { FileStorage } from '../runtime/files/file-storage.ts'
import type { RequestHead } from '../runtime/http/head.ts'
import { type HttpReply, jsonReply } from '../runtime/http/reply.ts'
import {
  type HttpServer,
  type HttpServerOptions,
  makeHttpServer,
  type NoRoute,
  type Route,
} from '../runtime/http/server.ts'
import type { Metrics } from '../runtime/metrics.ts'
import type { ReadTxt } from '../runtime/outbound/txt-records.ts'
import { mutationQueue } from '../schemas/limits/api-limits.ts'
import { arrivingBodiesBytesMax, bodyDeadlineMs } from '../schemas/limits/event-limits.ts'
import { formOverheadBytesMax } from '../schemas/limits/media-limits.ts'
import { overviewReuse } from '../schemas/limits/overview-limits.ts'
import { postgresShareOfAnswer } from '../schemas/limits/store-limits.ts'
import { makeDashboardRoute } from './dashboard/routes.ts'
import { acceptKeysAndApps, makeAuthenticator } from './guards/authenticate.ts'
import type { SignInLimiter } from './guards/rate-limit.ts'
import { makeGuidePages } from './guides.ts'
import { readHealth } from './health.ts'
import { routeLinkedFile } from './media/linked-file.ts'
import type { MediaLimits } from './media/receive.ts'
import { makeOAuthRoute } from './oauth/routes.ts'
import type { CallConfig, Operation } from './operations/define.ts'
import { makeFairQueue } from './operations/fair-queue.ts'
import { makeTimedReaders } from './operations/timed-reader.ts'
import { makeOpenApiPage, referencePages } from './reference-page.ts'
import { type RevenueReceiver, routeRevenue } from './revenue/receive.ts'
import { makeFormReader } from './transports/form.ts'
import { makeMcpRoute, mcpPath } from './transports/mcp.ts'
import { makeRestRouter, problemReply, type RestGateway, redirectReply } from './transports/rest.ts'
import { routeUnsubscribe } from './unsubscribe.ts'

/** Passed on as they are. */
type Passed = 'clock' | 'log' | 'rateLimiter' | 'idempotencyKeptMs' | 'hashAddress' | 'hashRequest' | 'proxies'

export interface GatewayOptions extends Pick<RestGateway, Passed> {
  readonly operations: readonly Operation[]
  readonly pg: Pick<Postgres, 'query' | 'transaction' | 'ping'>
  readonly ch: Pick<ClickHouse, 'query' | 'command' | 'ping'>
  readonly metrics: Metrics
  readonly signInLimiter: SignInLimiter
  /** How long an answer waits for stores that hang. */
  readonly answerDeadlineMs: number
  readonly box: SecretBox
  readonly hashes: IdentityHashes
  readonly revenueBox: RevenueReceiver['revenueBox']
  readonly mailBox: SecretBox
  readonly accountBox: SecretBox
  /** Opens the secrets of the installation's apps at platforms. */
  readonly appBox: SecretBox
  readonly factorBox: SecretBox
  readonly browserHash: KeyedHash
  readonly media: FileStorage
  readonly mediaLinks: MediaLinks
  readonly mediaLimits: MediaLimits
  readonly mediaBytesMax: CallConfig['mediaBytesMax']
  readonly readTxt: ReadTxt
  /** The public root, known only once the port is: it may be asked for after listening. */
  apiHost(): string
  /** The root of short links; undefined: `/l` under the API's. */
  readonly shortUrlHost?: string | undefined
  /** For development: webhooks may go to private addresses, and over plain http. */
  readonly allowPrivateTargets?: boolean
  /** Reports, invitations and links to a new password can be sent by e-mail. */
  readonly isMailSetUp?: boolean
}

type Page = (head: RequestHead) => Promise<HttpReply> | HttpReply

const durationBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15]

export function makeGateway(options: GatewayOptions): HttpServer {
  const gateway = restGatewayOf(options)
  const routeOperation = makeRestRouter(options.operations, gateway)
  const authenticator = makeAuthenticator(options.pg, options.clock, options.log, acceptKeysAndApps)
  const routeMcp = makeMcpRoute(options.operations, { ...gateway, authenticator })
  const routeOAuth = makeOAuthRoute(gateway, options)
  const routeDashboard = makeDashboardRoute(options.operations, gateway, options)
  const pages = pagesOf(options)
  return makeHttpServer({
    log: options.log,
    bodyDeadlineMs,
    arrivingBodiesBytesMax,
    route: (head) => {
      if (head.path === mcpPath) return routeMcp(head)
      const page = Object.hasOwn(pages, head.path) ? pages[head.path] : undefined
      if (page) return routePage(head.path, head.method, page)
      const bare = head.path.endsWith('/') ? head.path.slice(0, -1) : ''
      return bare === mcpPath || Object.hasOwn(pages, bare)
        ? { label: 'none', reply: redirectReply(head.path, head.query) }
        : (routeRevenue(head, options) ??
            routeUnsubscribe(head, options) ??
            routeLinkedFile(head, options) ??
            routeOAuth(head) ??
            routeDashboard(head) ??
            routeOperation(head))
    },
    observe: makeObserver(options.metrics),
  })
}

function restGatewayOf(options: GatewayOptions): RestGateway {
  const { pg, ch, clock, log, box, hashes, media, mediaLimits, apiHost } = options
  const coalescer = makeCoalescer(overviewReuse)
  const enqueue = makeFairQueue(mutationQueue)
  return {
    ...options,
    authenticator: makeAuthenticator(pg, clock, log),
    transaction: pg.transaction,
    preparing: new Set(),
    openReader: makeTimedReaders(ch, options.answerDeadlineMs),
    enqueue: (workspaceId, mutate) => enqueue(workspaceId, options.answerDeadlineMs * postgresShareOfAnswer, mutate),
    stores: {
      pg,
      box,
      hashes,
      media,
      readTxt: options.readTxt,
      ch,
      share: <Answer>(question: string, work: () => Promise<Answer>) =>
        coalescer.ask(question, work) as Promise<Answer>,
    },
    config: {
      get apiHost() {
        return apiHost()
      },
      get shortUrlHost() {
        return options.shortUrlHost ?? `${apiHost()}/l`
      },
      allowPrivateTargets: options.allowPrivateTargets ?? false,
      isMailSetUp: options.isMailSetUp ?? false,
      answerDeadlineMs: options.answerDeadlineMs,
      mediaBytesMax: options.mediaBytesMax,
    },
    by: { interface: 'rest', credentialOf: ({ headers }) => headers.get('authorization') },
    forms: makeFormReader(media, mediaLimits),
    formBytesMax: Math.max(mediaLimits.imageBytesMax, mediaLimits.videoBytesMax) + formOverheadBytesMax,
  }
}

/** Read by anybody who reaches this port. */
function pagesOf({ operations, pg, ch, metrics, apiHost }: GatewayOptions): Readonly<Record<string, Page>> {
  return {
    '/v1/openapi.json': makeOpenApiPage(operations, apiHost),
    ...referencePages,
    ...makeGuidePages(apiHost),
    '/health': async () => jsonReply(200, await readHealth({ postgres: pg, clickhouse: ch })),
    '/metrics': async () => ({
      status: 200,
      headers: { 'Content-Type': metrics.contentType },
      body: await metrics.text(),
    }),
  }
}

function makeObserver(metrics: Metrics): NonNullable<HttpServerOptions['observe']> {
  const requests = metrics.counter('svc_api_requests_total', 'Requests by operation and status.', [
    'operation',
    'status',
  ])
  const durations = metrics.histogram(
    'svc_api_request_seconds',
    'Time from a request to its answer, by operation.',
    durationBuckets,
    ['operation'],
  )
  return (label, status, seconds) => {
    // 0: the caller went away before there was an answer.
    requests.inc({ operation: label, status: status === 0 ? 'aborted' : String(status) })
    durations.observe({ operation: label }, seconds)
  }
}

function routePage(path: string, method: string, page: Page): Route | NoRoute {
  const label = path.split('/').at(-1)!
  if (method === 'GET' || method === 'HEAD') return { label, bodyBytesMax: 0, handle: page }
  return { label, reply: problemReply('method_not_allowed', { Allow: 'GET, HEAD' }) }
}
