/**
 * An HTTP server over uWebSockets.js: handlers see a copied request with its whole body and return a reply. Judged here,
 * in this order: the framing, the route, the body's size, its encoding, its pace. Every reply carries X-Request-Id. When
 * the client goes away its handler's result is dropped. Held by test/integration/http-server.test.ts.
 */
import type { Log } from '../log.ts'
import { ArrivingBodies, readBody } from './body.ts'
import { copyHead, type RequestHead } from './head.ts'
import { type Listening, listenAlone } from './listen.ts'
import { cuttingBody, drainedBytesMax, type Refusal, refusals } from './refusals.ts'
import { type HttpReply, jsonReply, sendReply } from './reply.ts'
import { type TemplatedApp, uws } from './uws.ts'

export interface HttpRequest extends RequestHead {
  readonly body: Buffer
}

export interface Route {
  /** The request's label in metrics, from a closed list. */
  readonly label: string
  readonly bodyBytesMax: number
  /**
   * Judges by the head, while a body that is worth it (`judgedBodyBytes`) is still arriving: a reply refuses it, and
   * what has arrived is dropped. What it lets pass is judged again by `handle`. Mustn't reject.
   */
  judge?(head: RequestHead): Promise<HttpReply | undefined>
  /** A rejection is a bug: it is logged under the request id and answered 500. */
  handle(request: HttpRequest): Promise<HttpReply> | HttpReply
}

/** Answered without reading any body: no such route, another method. */
export interface NoRoute {
  readonly label: string
  readonly reply: HttpReply
}

export interface HttpServerOptions {
  readonly log: Log
  readonly bodyDeadlineMs: number
  /** Bytes of all bodies together that have begun to arrive and aren't whole; beyond it 503. */
  readonly arrivingBodiesBytesMax: number
  /** Chooses by the head alone. */
  route(head: RequestHead): Route | NoRoute
  /** Told of every answer that was sent, and of aborted requests with status 0. */
  observe?(label: string, status: number, seconds: number): void
}

export interface HttpServer {
  /**
   * Resolves to the port.
   * @throws CantListen when another process has the port, or the address isn't this machine's
   */
  listen(host: string, port: number): Promise<number>
  /** Accepts no more, waits up to `deadlineMs` for the answers under way, then closes all connections. */
  close(deadlineMs?: number): Promise<void>
}

/** Shorter bodies aren't worth a judgement of their own. */
const judgedBodyBytes = 4 * 1024
const closeDeadlineMs = 10_000
const closePollMs = 20

export function makeHttpServer(options: HttpServerOptions): HttpServer {
  const { log, bodyDeadlineMs, route, observe } = options
  const arriving = new ArrivingBodies(options.arrivingBodiesBytesMax)
  const app: TemplatedApp = uws.App()
  let listening: Listening | undefined
  let underWay = 0
  let isClosing = false

  app.any('/*', (response, request) => {
    const startedAt = performance.now()
    const head = copyHead(request, response)
    const { requestId } = head
    const found = head.isFramed ? route(head) : undefined
    let isOver = false
    let dropBody = () => {}
    underWay += 1

    function over(status: number): void {
      isOver = true
      underWay -= 1
      observe?.(found?.label ?? 'none', status, (performance.now() - startedAt) / 1000)
    }
    function send(reply: HttpReply, closes = false): void {
      if (isOver) return
      sendReply(response, reply, { requestId, headOnly: head.method === 'HEAD', closes: closes || isClosing })
      over(reply.status)
    }
    function refuse({ status, detail, retryAfter, ...refusal }: Refusal, closes = refusal.closes): void {
      const headers = retryAfter === undefined ? {} : { 'Retry-After': String(retryAfter) }
      send(jsonReply(status, { detail }, headers), closes)
    }

    response.onAborted(() => {
      dropBody()
      if (!isOver) over(0)
    })
    if (found === undefined) {
      const { badFraming } = refusals
      const headers = { 'Content-Type': 'application/json' }
      return send({ status: badFraming.status, headers, body: cuttingBody(badFraming) }, true)
    }
    if ('reply' in found) return send(found.reply)
    if (head.bodyLength !== undefined && head.bodyLength > found.bodyBytesMax) {
      return refuse(refusals.bodyTooLarge, head.bodyLength > drainedBytesMax)
    }
    if (head.isEncoded) return refuse(refusals.encoding)
    const bounds = { bytesMax: found.bodyBytesMax, deadlineMs: bodyDeadlineMs, arriving }
    dropBody = readBody(response, bounds, (body) => {
      if (!Buffer.isBuffer(body)) return refuse(body)
      void answer(found, { ...head, body: Buffer.from(body) }, log).then((reply) => send(reply))
    })
    const isChunked = head.headers.has('transfer-encoding')
    if (found.judge && (isChunked || (head.bodyLength ?? 0) > judgedBodyBytes)) {
      void found.judge(head).then((refusal) => {
        if (refusal === undefined || isOver) return
        dropBody()
        send(refusal, true)
      })
    }
  })

  return {
    async listen(host, port) {
      listening = await listenAlone(app, host, port)
      return listening.port
    },

    async close(deadlineMs = closeDeadlineMs) {
      isClosing = true
      listening?.stop()
      listening = undefined
      const end = performance.now() + deadlineMs
      while (underWay > 0 && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, closePollMs))
      app.close()
    },
  }
}

async function answer(route: Route, request: HttpRequest, log: Log): Promise<HttpReply> {
  try {
    return await route.handle(request)
  } catch (error) {
    log.error({ err: error, requestId: request.requestId }, 'a handler failed')
    return jsonReply(500, { detail: 'Internal Server Error' })
  }
}
