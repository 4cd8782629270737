/** How one request is answered: once, in one piece or streamed, or not at all when its client has gone. */
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { Log } from '../log.ts'
import { droppedBytesMax } from './body-bounds.ts'
import { sendFile } from './file-body.ts'
import type { RequestHead } from './head.ts'
import { idleConnectionMs } from './idle.ts'
import { endLingering } from './linger.ts'
import { dropRequestBody } from './node-body.ts'
import { type HttpReply, jsonReply } from './reply.ts'

export interface Answering {
  /** Answered, or given up. */
  readonly isOver: boolean
  send(reply: HttpReply, closes?: boolean): void
  /**
   * The same before the body was read. If much may still come, the answer waits for it a moment. If that wasn't enough,
   * the connection ends with the answer.
   */
  sendEarly(reply: HttpReply, restBytesMax?: number): void
}

export interface AnsweringOptions {
  readonly log: Log
  /** Each answer is to end its connection. */
  isClosing(): boolean
  /** Called once: with the status that was sent, or 0 when the client went away before. */
  over(status: number): void
  /** Called when the client goes away. */
  gone(): void
}

/** A sender who has the answer, and still sends a body that nobody reads, may be silent for ten seconds. */
const restStallMs = 10_000

export function makeAnswering(
  request: IncomingMessage,
  response: ServerResponse,
  { requestId, method, bodyLength, headers }: Pick<RequestHead, 'requestId' | 'method' | 'bodyLength' | 'headers'>,
  { log, isClosing, over, gone }: AnsweringOptions,
): Answering {
  let isOver = false

  function end(status: number): void {
    if (isOver) return
    isOver = true
    over(status)
  }
  function writeHead({ status, headers, cookies = [], body, file }: HttpReply, closes: boolean): void {
    if (closes || isClosing()) response.shouldKeepAlive = false
    if (!response.shouldKeepAlive && !request.complete) lingerAtEnd(request.socket)
    const length = file?.bytes ?? Buffer.byteLength(body ?? '')
    const hasLength = status !== 204 && status !== 304
    response.writeHead(status, STATUS_CODES[status], {
      'X-Request-Id': requestId,
      ...headers,
      ...(cookies.length > 0 && { 'Set-Cookie': [...cookies] }),
      ...(hasLength && { 'Content-Length': length }),
    })
  }
  response.on('close', () => {
    if (isOver) return
    end(0)
    gone()
  })
  response.on('finish', () => {
    if (request.complete) return
    request.resume().setTimeout(restStallMs, () => request.destroy())
    // From there on the connection waits for its next request, as any other.
    request.once('end', () => request.socket.setTimeout(idleConnectionMs))
  })

  const answering: Answering = {
    get isOver() {
      return isOver
    },
    send(reply, closes = false) {
      if (isOver) return
      const { file } = reply
      if (file !== undefined && file.bytes > 0 && method !== 'HEAD') {
        void sendFile(response, file, () => writeHead(reply, closes)).then(
          () => end(reply.status),
          (error) => {
            if (!isOver) log.error({ err: error, requestId }, 'an answer could not be sent')
            // A file that couldn't be opened has sent nothing yet.
            if (isOver || response.headersSent) return void response.destroy()
            answering.send(jsonReply(500, { detail: 'Internal Server Error' }), closes)
          },
        )
        return
      }
      writeHead(reply, closes)
      response.end(method === 'HEAD' ? undefined : reply.body)
      end(reply.status)
    },
    sendEarly(reply, restBytesMax = droppedBytesMax) {
      if (request.complete) return answering.send(reply)
      // The rest is dropped behind the answer.
      if (!headers.has('transfer-encoding') && (bodyLength ?? 0) <= restBytesMax) return answering.send(reply)
      void dropRequestBody(request, bodyLength ?? restBytesMax).then((isWhole) => answering.send(reply, !isWhole))
    },
  }
  return answering
}

/** Node calls this behind the last answer. */
function lingerAtEnd(socket: Socket): void {
  socket.destroySoon = () => endLingering(socket)
}
