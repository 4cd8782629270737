/** The API's HTTP server: the operations, their OpenAPI document, health and metrics. */
import type { ClickHouse } from '../clickhouse/client.ts'
import { rememberLasting } from '../clickhouse/queries/remember.ts'
import type { Postgres } from '../postgres/client.ts'
import type { Clock } from '../runtime/clock.ts'
import { makeCoalescer } from '../runtime/coalesce.ts'
import { type HttpReply, jsonReply } from '../runtime/http/reply.ts'
import { type HttpServer, makeHttpServer, type NoRoute, type Route } from '../runtime/http/server.ts'
import type { Log } from '../runtime/log.ts'
import type { Metrics } from '../runtime/metrics.ts'
import { arrivingBodiesBytesMax, bodyDeadlineMs, overviewReuse } from '../schemas/limits.ts'
import { makeAuthenticator } from './guards/authenticate.ts'
import { readHealth } from './health.ts'
import type { Operation } from './operations/define.ts'
import { makeSnapshots } from './snapshots.ts'
import { makeOpenApi } from './transports/openapi.ts'
import { makeRestRouter, problemReply, redirectReply } from './transports/rest.ts'

export interface GatewayOptions {
  readonly operations: readonly Operation[]
  readonly pg: Pick<Postgres, 'query' | 'ping'>
  readonly ch: Pick<ClickHouse, 'query' | 'ping'>
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Metrics
  /** The public root, known only once the port is: it may be asked for after listening. */
  apiHost(): string
}

type Page = () => Promise<HttpReply> | HttpReply

const durationBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15]

export function makeGateway({ operations, pg, ch, clock, log, metrics, apiHost }: GatewayOptions): HttpServer {
  const config = {
    get apiHost() {
      return apiHost()
    },
  }
  const authenticator = makeAuthenticator(pg, clock, log)
  const coalescer = makeCoalescer(overviewReuse)
  const stores = {
    pg,
    ch: rememberLasting(ch),
    snapshot: makeSnapshots(pg, clock),
    share: <Answer>(question: string, work: () => Promise<Answer>) => coalescer.ask(question, work) as Promise<Answer>,
  }
  const routeOperation = makeRestRouter(operations, { authenticator, stores, clock, log, config })
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

  /** Made once: zod takes milliseconds for it, and anybody may ask. */
  let openApi: { apiHost: string; reply: HttpReply } | undefined
  function openApiReply(): HttpReply {
    const host = apiHost()
    if (openApi?.apiHost !== host) openApi = { apiHost: host, reply: jsonReply(200, makeOpenApi(operations, host)) }
    return openApi.reply
  }

  /** Read by anybody who reaches this port. */
  const pages: Readonly<Record<string, Page>> = {
    '/v1/openapi.json': openApiReply,
    '/health': async () => jsonReply(200, await readHealth({ postgres: pg, clickhouse: ch })),
    '/metrics': async () => ({
      status: 200,
      headers: { 'Content-Type': metrics.contentType },
      body: await metrics.text(),
    }),
  }

  return makeHttpServer({
    log,
    bodyDeadlineMs,
    arrivingBodiesBytesMax,
    route: (head) => {
      const page = Object.hasOwn(pages, head.path) ? pages[head.path] : undefined
      if (page) return routePage(head.path, head.method, page)
      const isPageWithSlash = head.path.endsWith('/') && Object.hasOwn(pages, head.path.slice(0, -1))
      return isPageWithSlash ? { label: 'none', reply: redirectReply(head.path, head.query) } : routeOperation(head)
    },
    observe(label, status, seconds) {
      // 0: the caller went away before there was an answer.
      requests.inc({ operation: label, status: status === 0 ? 'aborted' : String(status) })
      durations.observe({ operation: label }, seconds)
    },
  })
}

function routePage(path: string, method: string, page: Page): Route | NoRoute {
  const label = path.split('/').at(-1)!
  if (method === 'GET' || method === 'HEAD') return { label, bodyBytesMax: 0, handle: page }
  return { label, reply: problemReply('method_not_allowed', { Allow: 'GET, HEAD' }) }
}
