/** How one request is answered: once, in one piece or streamed, or not at all when its client has gone. */
import type { Log } from '../log.ts'
import { type DroppedBody, dropBody } from './dropped-body.ts'
import { sendFile } from './file-body.ts'
import type { RequestHead } from './head.ts'
import { drainedBytesMax, type Refusal, refusalReply } from './refusals.ts'
import { type HttpReply, sendReply, writeHead } from './reply.ts'
import type { HttpResponse } from './uws.ts'

export interface Answering {
  /** Answered whole, or given up. */
  readonly isOver: boolean
  send(reply: HttpReply, closes?: boolean): void
  refuse(refusal: Refusal, closes?: boolean): void
  /** Answers without reading any body. Must be called before the first await of the request. */
  sendByHead(reply: HttpReply): void
  /** Answers while the body is still arriving: what comes of it is dropped, unless it is far beyond the route's bound. */
  sendBesideBody(reply: HttpReply, bodyBytesMax: number): void
  /** Answers once the rest of the body has come and was dropped; where that takes long, the connection ends with the answer. */
  sendAfterBody(reply: HttpReply, rest: DroppedBody): void
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

/** Must be called before the first await of the request. */
export function makeAnswering(
  response: HttpResponse,
  { requestId, method, bodyLength, headers }: Pick<RequestHead, 'requestId' | 'method' | 'bodyLength' | 'headers'>,
  { log, isClosing, over, gone }: AnsweringOptions,
): Answering {
  let isOver = false
  let leaving: AbortController | undefined

  function end(status: number): void {
    if (isOver) return
    isOver = true
    over(status)
  }
  /** For an answer that isn't written at once. */
  function sendSlowly(status: number, write: (gone: AbortSignal) => Promise<void>): void {
    leaving = new AbortController()
    write(leaving.signal).then(
      () => end(status),
      (error) => {
        log.error({ err: error, requestId }, 'an answer could not be sent')
        if (!isOver) response.close()
      },
    )
  }
  response.onAborted(() => {
    end(0)
    leaving?.abort()
    gone()
  })

  const answering = {
    get isOver() {
      return isOver
    },
    send(reply: HttpReply, closes = false): void {
      if (isOver) return
      const { file } = reply
      if (file !== undefined && file.bytes > 0 && method !== 'HEAD') {
        const head = () => writeHead(response, reply, requestId)
        return sendSlowly(reply.status, (signal) => sendFile(response, file, head, signal))
      }
      sendReply(response, reply, { requestId, headOnly: method === 'HEAD', closes: closes || isClosing() })
      end(reply.status)
    },
    refuse(refusal: Refusal, closes = refusal.closes): void {
      answering.send(refusalReply(refusal), closes)
    },
    sendByHead(reply: HttpReply): void {
      // The rest of a body of which nobody said how long it is would be cut with a reset.
      if (headers.has('transfer-encoding')) answering.sendAfterBody(reply, dropBody(response))
      else answering.send(reply)
    },
    sendBesideBody(reply: HttpReply, bodyBytesMax: number): void {
      if (isOver) return
      const droppedBytesMax = Math.max(2 * bodyBytesMax, drainedBytesMax)
      if (bodyLength !== undefined) {
        // uWebSockets.js drops the rest by itself.
        response.resume()
        return answering.send(reply, bodyLength > droppedBytesMax)
      }
      const rest = dropBody(response, droppedBytesMax)
      response.resume()
      answering.sendAfterBody(reply, rest)
    },
    sendAfterBody(reply: HttpReply, rest: DroppedBody): void {
      if (isOver) return
      leaving = new AbortController()
      void rest.end(leaving.signal).then((isWhole) => answering.send(reply, !isWhole))
    },
  }
  return answering
}
