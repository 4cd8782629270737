/** `/health` and `/metrics` of the pipeline: it has no other routes. */
import type { RequestHead } from '../runtime/http/head.ts'
import { type HttpReply, jsonReply } from '../runtime/http/reply.ts'
import { type HttpServer, makeHttpServer } from '../runtime/http/server.ts'
import type { Log } from '../runtime/log.ts'
import type { Metrics } from '../runtime/metrics.ts'
import { arrivingBodiesBytesMax, bodyDeadlineMs } from '../schemas/limits/event-limits.ts'

export function makeStatusServer(metrics: Metrics, log: Log): HttpServer {
  const answers: Record<string, () => Promise<HttpReply> | HttpReply> = {
    '/health': () => jsonReply(200, { status: 'ok' }),
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
    route: ({ method, path }: RequestHead) => {
      const answer = Object.hasOwn(answers, path) ? answers[path] : undefined
      if (answer === undefined) return { label: 'none', reply: jsonReply(404, { detail: 'Not Found' }) }
      if (method !== 'GET' && method !== 'HEAD') {
        return { label: path, reply: jsonReply(405, { detail: 'Method Not Allowed' }, { Allow: 'GET, HEAD' }) }
      }
      return { label: path, bodyBytesMax: 0, handle: answer }
    },
  })
}
