/** A receiver of webhooks, on loopback: what comes from outside the product. It keeps what it got, and answers as it is told. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { afterAll, beforeAll, beforeEach } from 'vitest'
import { listening } from './listening.ts'

interface Received {
  readonly path: string
  readonly headers: Record<string, string>
  readonly body: string
  readonly at: number
}

/** Undefined: 200 with `ok`. */
type Behaviour = (request: IncomingMessage, response: ServerResponse) => void

export type Receiver = Awaited<ReturnType<typeof startReceiver>>

/** For the tests of a file: each finds it without requests, and answering `ok`. */
export function setUpReceiver(): Receiver {
  const receiver = {} as Receiver
  beforeAll(async () => {
    Object.defineProperties(receiver, Object.getOwnPropertyDescriptors(await startReceiver()))
  })
  beforeEach(() => {
    receiver.behaviour = undefined
    receiver.received.length = 0
  })
  afterAll(() => receiver.close?.())
  return receiver
}

export async function startReceiver(tls?: { key: string; cert: string }) {
  const received: Received[] = []
  let connections = 0
  let behaviour: Behaviour | undefined

  const onRequest = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const headers = request.headers as Record<string, string>
    received.push({ path: request.url!, headers, body: Buffer.concat(chunks).toString(), at: Date.now() })
    if (behaviour === undefined) response.end('ok')
    else behaviour(request, response)
  }
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    // Whoever was sending may be gone.
    onRequest(request, response).catch(() => response.destroy())
  }
  const server = tls === undefined ? createServer(answer) : createTlsServer(tls, answer)
  server.on('connection', () => {
    connections += 1
  })
  const { port } = await listening(server)
  return {
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    port,
    received,
    get connections() {
      return connections
    },
    get behaviour() {
      return behaviour
    },
    set behaviour(wanted) {
      behaviour = wanted
    },
    close: async () => {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}
