/**
 * Pipelined requests of one connection begin one after another, each when the one before is over. Node hands them
 * out all at once: one connection could then take every connection to a service, or all of Postgres. Held by
 * test/integration/http-server.test.ts and test/integration/front.test.ts.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

type Handle = (request: IncomingMessage, response: ServerResponse) => void

/** Requests that wait on a connection. A sender of more is cut off, and those that wait never begin. */
const waitingMax = 100

export function inTurn(handle: Handle): Handle {
  const waiting = new WeakMap<Socket, (() => void)[]>()
  return (request, response) => {
    const { socket } = request
    if (!socket.writable) return
    const line = waiting.get(socket) ?? []
    const begin = () => {
      response.once('close', () => {
        const next = line.shift()
        if (next !== undefined && socket.writable) next()
        else waiting.delete(socket)
      })
      handle(request, response)
    }
    if (!waiting.has(socket)) {
      waiting.set(socket, line)
      begin()
    } else if (line.length < waitingMax) line.push(begin)
    else socket.destroy()
  }
}
