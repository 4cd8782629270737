/**
 * An HTTP server over uWebSockets.js: handlers see a copied request with its whole body, or with a stream of it, and return
 * a reply. Judged here, in this order: the framing, the route, the body's size, its encoding, its pace. Every reply carries
 * X-Request-Id. When the client goes away its handler's result is dropped. Held by test/integration/http-server.test.ts and
 * test/integration/http-streams.test.ts.
 */
import type { Log } from '../log.ts'
import { type Answering, makeAnswering } from './answering.ts'
import { ArrivingBodies, readBody } from './body.ts'
import { dropBody as dropRest } from './dropped-body.ts'
import { copyHead, type RequestHead } from './head.ts'
import { type Listening, listenAlone } from './listen.ts'
import { cuttingBody, drainedBytesMax, refusalReply, refusals } from './refusals.ts'
import { type HttpReply, jsonReply } from './reply.ts'
import { BodyFailed, StreamedBody } from './streamed-body.ts'
import { type HttpResponse, type TemplatedApp, uws } from './uws.ts'

export interface HttpRequest extends RequestHead {
  readonly body: Buffer
}

export interface Route {
  /** The request's label in metrics, from a closed list. */
  readonly label: string
  readonly bodyBytesMax: number
  readonly stream?: undefined
  /**
   * Judges by the head, while a body that is worth it (`judgedBodyBytes`) is still arriving: a reply refuses it, and
   * what has arrived is dropped. What it lets pass is judged again by `handle`. Mustn't reject.
   */
  judge?(head: RequestHead): Promise<HttpReply | undefined>
  /** A rejection is a bug: it is logged under the request id and answered 500. */
  handle(request: HttpRequest): Promise<HttpReply> | HttpReply
}

export interface StreamedRequest extends RequestHead {
  /** Ends with a `BodyFailed` where it isn't read to its end. */
  readonly body: StreamedBody
}

/** For bodies that are too long to be held: the handler begins before they have come. */
export interface StreamedRoute {
  readonly label: string
  readonly bodyBytesMax: number
  /** In place of the server's deadline: how long a sender may send nothing, and how long all of it may take. */
  readonly stream: { readonly stallMs: number; readonly deadlineMs: number }
  /** May reply before the body is whole: the rest is dropped. A rejection is as in `Route`. */
  handle(request: StreamedRequest): Promise<HttpReply>
}

/** Answered without reading any body: no such route, another method. */
export interface NoRoute {
  readonly label: string
  readonly reply: HttpReply
  readonly stream?: undefined
}

export interface HttpServerOptions {
  readonly log: Log
  readonly bodyDeadlineMs: number
  /** Bytes of all bodies together that have begun to arrive and aren't whole; beyond it 503. */
  readonly arrivingBodiesBytesMax: number
  /** Chooses by the head alone. */
  route(head: RequestHead): Route | StreamedRoute | NoRoute
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
    const found = head.isFramed ? route(head) : undefined
    let dropBody = () => {}
    underWay += 1
    const answering = makeAnswering(response, head, {
      log,
      isClosing: () => isClosing,
      over(status) {
        underWay -= 1
        observe?.(found?.label ?? 'none', status, (performance.now() - startedAt) / 1000)
      },
      gone: () => dropBody(),
    })
    if (found === undefined) {
      const { badFraming } = refusals
      const headers = { 'Content-Type': 'application/json' }
      return answering.send({ status: badFraming.status, headers, body: cuttingBody(badFraming) }, true)
    }
    if ('reply' in found) return answering.sendByHead(found.reply)
    if (found.stream !== undefined) {
      dropBody = serveStream(found, { head, response, answering, log })
      return
    }
    if (head.bodyLength !== undefined && head.bodyLength > found.bodyBytesMax) {
      if (head.bodyLength <= drainedBytesMax) return answering.refuse(refusals.bodyTooLarge, false)
      // The connection ends with the answer, which waits for as much of the body as comes in a moment: else a reset takes it away.
      return answering.sendAfterBody(refusalReply(refusals.bodyTooLarge), dropRest(response, head.bodyLength))
    }
    if (head.isEncoded) return answering.sendByHead(refusalReply(refusals.encoding))
    const bounds = { bytesMax: found.bodyBytesMax, deadlineMs: bodyDeadlineMs, arriving }
    let isArriving = true
    const drop = readBody(response, bounds, (body, rest) => {
      isArriving = false
      // Who was late has had the time.
      if (body === refusals.bodyLate) return answering.refuse(body)
      if (!Buffer.isBuffer(body)) return answering.sendAfterBody(refusalReply(body), rest!)
      const request = { ...head, body: Buffer.from(body) }
      void answer(() => found.handle(request), request, log).then((reply) => answering.send(reply))
    })
    dropBody = drop
    const isChunked = head.headers.has('transfer-encoding')
    if (found.judge && (isChunked || (head.bodyLength ?? 0) > judgedBodyBytes)) {
      void found.judge(head).then((refusal) => {
        // Of what has arrived, `handle` says the same.
        if (refusal === undefined || !isArriving || answering.isOver) return
        isArriving = false
        answering.sendAfterBody(refusal, drop())
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

interface Arrival {
  readonly head: RequestHead
  readonly response: HttpResponse
  readonly answering: Answering
  readonly log: Log
}

/** @returns what the request's abort has to call */
function serveStream(route: StreamedRoute, { head, response, answering, log }: Arrival): () => void {
  const { bodyTooLarge, encoding } = refusals
  const isTooLarge = head.bodyLength !== undefined && head.bodyLength > route.bodyBytesMax
  if (isTooLarge || head.isEncoded) {
    const { status, detail } = isTooLarge ? bodyTooLarge : encoding
    answering.sendBesideBody(jsonReply(status, { detail }), route.bodyBytesMax)
    return () => {}
  }
  const body = new StreamedBody(response, { bytesMax: route.bodyBytesMax, ...route.stream })
  const request = { ...head, body }
  void answer(() => route.handle(request), head, log).then((reply) => {
    body.destroy()
    if (body.isWhole) answering.send(reply)
    else answering.sendBesideBody(reply, route.bodyBytesMax)
  })
  return () => body.destroy(new BodyFailed('gone'))
}

async function answer(
  handle: () => Promise<HttpReply> | HttpReply,
  { requestId }: RequestHead,
  log: Log,
): Promise<HttpReply> {
  try {
    return await handle()
  } catch (error) {
    log.error({ err: error, requestId }, 'a handler failed')
    return jsonReply(500, { detail: 'Internal Server Error' })
  }
}
