/**
 * An HTTP server over Node's own: handlers see a copied request with its whole body, or with a stream of it, and return a reply.
 * It checks, in this order: the head, the route, the body's size, its encoding, its pace. Every reply carries X-Request-Id.
 * If the client disconnects, the handler's result is dropped. Held by test/integration/http-server.test.ts and
 * test/integration/http-streams.test.ts.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Log } from '../log.ts'
import { sleep } from '../retry.ts'
import { type Answering, makeAnswering } from './answering.ts'
import { ArrivingBodies } from './body-bounds.ts'
import { compressReply } from './compression.ts'
import { copyHead, type RequestHead } from './head.ts'
import { idleConnectionMs } from './idle.ts'
import { inTurn } from './in-turn.ts'
import { CantListen } from './listen.ts'
import { dropRequestBody, readRequestBody } from './node-body.ts'
import { refusalReply, refusals } from './refusals.ts'
import { type HttpReply, jsonReply } from './reply.ts'
import { BodyFailed, StreamedBody } from './streamed-body.ts'
import { answerUnparsed } from './unparsed.ts'

export interface HttpRequest extends RequestHead {
  readonly body: Buffer
}

export interface Route {
  /** The request's label in metrics, from a closed list. */
  readonly label: string
  readonly bodyBytesMax: number
  readonly stream?: undefined
  /**
   * Checks a request by its head, while a body longer than `precheckedBodyBytes` is still arriving. A reply refuses the
   * request and drops the body. `handle` checks accepted requests again. Mustn't reject.
   */
  precheck?(head: RequestHead): Promise<HttpReply | undefined>
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

/** Shorter bodies are read before the request is checked. */
const precheckedBodyBytes = 4 * 1024
const closeDeadlineMs = 10_000
const closePollMs = 20
const headersWithinMs = 10_000

export function makeHttpServer(options: HttpServerOptions): HttpServer {
  const { log, bodyDeadlineMs, route, observe } = options
  const arriving = new ArrivingBodies(options.arrivingBodiesBytesMax)
  const busy = new WeakSet<Socket>()
  const refusedSockets = new WeakSet<Socket>()
  let underWay = 0
  let isClosing = false

  function serve(request: IncomingMessage, response: ServerResponse): void {
    const startedAt = performance.now()
    const head = copyHead(request)
    const found = head.fault === undefined ? route(head) : undefined
    let stop = () => {}
    underWay += 1
    busy.add(request.socket)
    const answering = makeAnswering(request, response, head, {
      log,
      isClosing: () => isClosing,
      over(status) {
        underWay -= 1
        busy.delete(request.socket)
        observe?.(found?.label ?? 'none', status, (performance.now() - startedAt) / 1000)
      },
      gone: () => stop(),
    })
    if (found === undefined) {
      refusedSockets.add(request.socket)
      return answering.send(refusalReply(head.fault!), true)
    }
    if ('reply' in found) return answering.sendEarly(found.reply)
    if (found.stream !== undefined) {
      stop = serveStream(found, { head, request, answering, log })
      return
    }
    if (head.bodyLength !== undefined && head.bodyLength > found.bodyBytesMax) {
      return answering.sendEarly(refusalReply(refusals.bodyTooLarge))
    }
    if (head.isEncoded) return answering.sendEarly(refusalReply(refusals.encoding))
    const refuse = async (reply: HttpReply) => answering.send(reply, !(await dropRequestBody(request)))
    const bounds = { bytesMax: found.bodyBytesMax, deadlineMs: bodyDeadlineMs, arriving }
    let isArriving = true
    stop = readRequestBody(request, head.bodyLength, bounds, (body) => {
      isArriving = false
      // After the deadline the rest of the body isn't waited for.
      if (body === refusals.bodyLate) return answering.send(refusalReply(body), true)
      if (!Buffer.isBuffer(body)) return void refuse(refusalReply(body))
      const whole = { ...head, body }
      void answer(() => found.handle(whole), head, log).then((reply) => answering.send(reply))
    })
    const isChunked = head.headers.has('transfer-encoding')
    if (found.precheck && (isChunked || (head.bodyLength ?? 0) > precheckedBodyBytes)) {
      void found.precheck(head).then((refusal) => {
        // For a body that has arrived, `handle` gives the same refusal.
        if (refusal === undefined || !isArriving || answering.isOver) return
        isArriving = false
        stop()
        void refuse(refusal)
      })
    }
  }

  const limits = {
    headersTimeout: headersWithinMs,
    requestTimeout: 0,
    keepAliveTimeout: idleConnectionMs,
    requireHostHeader: false,
  }
  const server = createServer({ ...limits, connectionsCheckingInterval: 1_000 }, inTurn(serve))
  server.on('clientError', (error, socket) => {
    if (busy.has(socket as Socket)) socket.destroy()
    // It has its answer, and ends with it.
    else if (!refusedSockets.has(socket as Socket)) answerUnparsed(error, socket as Socket, route)
  })

  return {
    async listen(host, port) {
      await new Promise<void>((resolve, reject) => {
        server.once('error', () => reject(new CantListen(`can't listen on ${host}:${port}: is the port in use?`)))
        server.listen({ host, port }, resolve)
      })
      return (server.address() as AddressInfo).port
    },

    async close(deadlineMs = closeDeadlineMs) {
      isClosing = true
      server.close()
      server.closeIdleConnections()
      const end = performance.now() + deadlineMs
      while (underWay > 0 && performance.now() < end) await sleep(closePollMs)
      server.closeAllConnections()
    },
  }
}

interface Arrival {
  readonly head: RequestHead
  readonly request: IncomingMessage
  readonly answering: Answering
  readonly log: Log
}

/** @returns a function for the request's abort to call */
function serveStream(route: StreamedRoute, { head, request, answering, log }: Arrival): () => void {
  const { bodyTooLarge, encoding } = refusals
  const isTooLarge = head.bodyLength !== undefined && head.bodyLength > route.bodyBytesMax
  const restBytesMax = 2 * route.bodyBytesMax
  if (isTooLarge || head.isEncoded) {
    answering.sendEarly(refusalReply(isTooLarge ? bodyTooLarge : encoding), restBytesMax)
    return () => {}
  }
  const body = new StreamedBody(request, { bytesMax: route.bodyBytesMax, ...route.stream })
  void answer(() => route.handle({ ...head, body }), head, log).then((reply) => {
    body.destroy()
    answering.sendEarly(reply, restBytesMax)
  })
  return () => body.destroy(new BodyFailed('gone'))
}

async function answer(
  handle: () => Promise<HttpReply> | HttpReply,
  { requestId, headers }: RequestHead,
  log: Log,
): Promise<HttpReply> {
  try {
    return await compressReply(await handle(), headers.get('accept-encoding'))
  } catch (error) {
    log.error({ err: error, requestId }, 'a handler failed')
    return jsonReply(500, { detail: 'Internal Server Error' })
  }
}
